// ops_summary by kind: the GPU's book, by what kernels do, whoever launched them.
#pragma once

#include "ledger/books/bounds.h"
#include "session/loaded_trace.h"
#include "session/trace_frames.h"
#include "tools/shared/answer.h"
#include "tools/trace/phase_rows.h"

namespace jarvis::tools {

// A row a kind of work, then its longest kernels indented below it. Milliseconds of a unit of the
// base; `percent` of the base.
void AddKindRows(const session::LoadedTrace& trace, const session::TraceFrames& frames,
                 const ledger::Bounds& bounds, const PhaseFilter& filter, std::uint64_t limit,
                 Answer* answer);

}  // namespace jarvis::tools
