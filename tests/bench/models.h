// What evaluating performance models costs: each distinct call of a trace that has one, on one
// thread.
#pragma once

#include <cstddef>
#include <string>

namespace jarvis::bench {

struct ModelTimes {
  std::size_t calls = 0;     // distinct: same op, same arguments
  std::size_t rows = 0;      // of models that these calls have
  double start_seconds = 0;  // a set of models that is asked nothing
  double first_seconds = 0;  // all calls by a new set: rows are compiled when they are first asked
  double again_seconds = 0;  // the same calls by the same set
};

// The best of `runs`. Throws std::runtime_error on failure.
ModelTimes MeasureModels(const std::string& path, int runs);

}  // namespace jarvis::bench
