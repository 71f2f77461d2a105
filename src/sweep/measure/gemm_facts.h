// The GEMM work of one trace: every kernel with how much of it a collective ran beside.
#pragma once

#include "base/job.h"
#include "session/loaded_trace.h"
#include "sweep/measure/facts.h"

namespace jarvis::sweep {

// Fills in gemms, gemm_rows (of the table GEMM in facts->tables), launches, computing and
// communicating.
Status FindGemms(const session::LoadedTrace& trace, bool reference_compat, Job& job,
                 RankFacts* facts);

}  // namespace jarvis::sweep
