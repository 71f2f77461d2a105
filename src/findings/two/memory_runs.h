// Runs of memory-bound work on one tensor: kernels in a row that move as many elements, in, out and
// in again. One kernel could read them once and write them once.
#pragma once

#include <string>
#include <vector>

#include "findings/one/analysis.h"
#include "findings/two/balance.h"

namespace jarvis::findings {

struct MemoryRun {
  std::vector<std::string> ops;  // in order
  double ms = 0;                 // of a unit of the balance
  double left_ms = 0;            // one pass over the most bytes that one of them moves
};

struct MemoryRuns {
  std::vector<MemoryRun> runs;         // the most time first; equal ones together
  std::vector<trace::EventIndex> gpu;  // their kernels, sorted
  double ms = 0;
  double left_ms = 0;
  double saved_ms() const { return ms - left_ms; }
};

// Of the primary of the balance. Runs whose bytes are not known, or that gain little, are left out.
MemoryRuns FindMemoryRuns(const AnalysedSide& primary, const Balance& balance);

}  // namespace jarvis::findings
