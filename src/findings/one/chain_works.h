// What the chains of one fusion finding are for: norm, rotary, activation, copies and so on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "findings/one/analysis.h"

namespace jarvis::findings {

struct ChainName {
  std::string name;     // "norm", "activation and gate", "`aten::add` + `aten::layer_norm`"
  std::string by_hand;  // a function that does it in one kernel; empty: none is known
};
// `beside`: all chains of the same finding.
ChainName NameOfChain(const FusionCandidate& chain,
                      const std::vector<const FusionCandidate*>& beside);

// What the function that is named for a chain replaces: of a rotary embedding not the copies behind
// it, which lay its output out for attention; of a normalisation neither the add of a bias or a
// residual before it nor the activation behind it. Any other chain as it is.
FusionCandidate NamedPart(const FusionCandidate& chain);

struct ChainWork {
  ChainName what;
  std::string module_class;  // of the costliest; empty: not known
  std::uint64_t count = 0;
  double ms = 0;
  Range savings_ms;  // GPU time
};
// The most time first. Empty: a finding about something else.
std::vector<ChainWork> ChainWorksOf(const Analysis& analysis, const Finding& finding);

}  // namespace jarvis::findings
