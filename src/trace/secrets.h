// Whether a trace's metadata holds what nobody should get with it: tokens, passwords, a whole
// process environment. Only names of keys are told, never a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/metadata.h"

namespace jarvis::trace {

struct Secrets {
  // Keys whose values look like secrets, by their names or by the values' form; sorted, each once.
  std::vector<std::string> keys;
  // Variables of a process environment; 0: there is none.
  std::uint64_t environment = 0;
  bool any() const { return !keys.empty() || environment > 0; }
};

// Looks at the top-level members of the file beside its events, at any depth. Pure.
Secrets FindSecrets(const Metadata& metadata);

}  // namespace jarvis::trace
