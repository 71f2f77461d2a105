// What was wrong with a part of a sweep.
#pragma once

#include "base/part_warning.h"

namespace jarvis::sweep {

// Codes: NO_CONFIGS, TRACE_UNREADABLE, TRACE_TRUNCATED, TRACE_EMPTY, RANK_CONFLICT, RANK_MISSING,
// WORLD_SIZE_MISMATCH, COLLECTIVE_METADATA_MISMATCH, NO_GEMM, NO_COLLECTIVES, CONFIG_MISMATCH,
// MULTIPLE_TRACES, those of analysis::RankWarning, and those about rocprofv3's files.
using Warning = PartWarning;

}  // namespace jarvis::sweep
