// Ops of one trace whose work the other does inside a replayed graph or a compiler's kernels, where
// no op is recorded: the same work, which must not be told as one side's alone.
#pragma once

#include <unordered_set>
#include <vector>

#include "findings/two/balance.h"

namespace jarvis::findings {

struct MovedWork {
  std::vector<const CompareRow*> rows;     // of `ops`: whose ops are on one side
  std::vector<const CompareRow*> holders;  // ... and what holds their work on the other
  std::unordered_set<const CompareRow*> all;
  bool Has(const CompareRow& row) const { return all.contains(&row); }
};

MovedWork FindMovedWork(const AnalysedSide& candidate, const AnalysedSide& baseline,
                        const Balance& balance, const TraceComparison& ops);

// Whether a kernel is of a replayed graph, or made by a compiler.
bool IsOpaque(const session::LoadedTrace& trace, trace::EventIndex kernel);

}  // namespace jarvis::findings
