// What must hold for every input of a fuzz target.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace jarvis::testing {

// Ends the program when it does not hold, so that the fuzzer keeps the input. The place is asked of
// the compiler itself, as clang 14 has no std::source_location.
inline void Require(bool holds, std::string_view what = "", const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: does not hold: %.*s\n", file, line, static_cast<int>(what.size()),
               what.data());
  std::abort();
}

}  // namespace jarvis::testing
