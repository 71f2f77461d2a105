// What a reader of a trace's numbers should know first: what is missing or strange, how much of the
// GPU's time it touches, and what to do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/loaded_trace.h"

namespace jarvis::findings {

struct QualityItem {
  std::string code;                        // stable
  std::string text;                        // one sentence
  std::uint64_t count = 0;                 // events concerned; 0: not about events
  std::optional<double> gpu_percent;       // share of GPU time concerned
  std::optional<std::uint64_t> first_uid;  // an example: its place in traceEvents
  std::string remedy;                      // left_out, clipped, repaired, partial, noted
};

// The gravest first: damage, then what touches GPU time, then what is missing.
std::vector<QualityItem> AssessQuality(const session::LoadedTrace& trace);

}  // namespace jarvis::findings
