// What must hold for every input of a fuzz target.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <string_view>

namespace jarvis::testing {

// Ends the program when it does not hold, so that the fuzzer keeps the input.
inline void Require(bool holds, std::string_view what = "",
                    std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: does not hold: %.*s\n", where.file_name(),
               static_cast<unsigned>(where.line()), static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace jarvis::testing
