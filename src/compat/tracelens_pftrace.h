// The reference's tables about traces of rocprofv3 in Perfetto's form: calls with their kernels,
// what the GPUs did, copies by size. Oddities as in docs/differences.md.
#pragma once

#include <vector>

#include "table/table.h"
#include "trace/event_store.h"

namespace jarvis::compat {

bool IsRocprofTrace(const trace::EventStore& events);

// In its order: api_kernel_summary; category_summary, xla_top, kernel_summary, hip_summary;
// memory_copy_by_copy_bytes.
std::vector<Table> TraceLensPftraceReport(const trace::EventStore& events);

}  // namespace jarvis::compat
