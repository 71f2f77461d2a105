// What the reference's sweep scripts (ROCm/aorta, 2025-12) and the report tool of that time do
// otherwise; docs/differences.md lists each with the reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/table.h"
#include "trace/event_store.h"

namespace jarvis::compat {

// The first 'name': '...' in the text of a kernel details cell; empty: there is none, or the name
// holds a single quote and is written with double ones.
std::string FirstKernelName(std::string_view details);

// The fastest and the slowest of all kernels whose name begins so, whatever op and shapes they were
// launched for. Starts are absolute microseconds. Absent: no such kernel.
struct KernelExtremes {
  double min_start_us = 0, max_start_us = 0;
  double min_us = 0, max_us = 0;
};
std::optional<KernelExtremes> ExtremesByNamePrefix(const trace::EventStore& events,
                                                   std::string_view prefix);

// The tables of today's reference as the report tool of 2025-12 wrote them: 37 columns of GEMM and
// 6 of ops_summary, and batched products counted as one (B = 1). Other tables stay as they are.
void ShapeAsOf2025(std::vector<Table>* tables);

// Overlap of one kernel with collectives, in milliseconds as doubles.
struct TimedName {
  std::string name;
  double start_ms = 0;
  double dur_ms = 0;
};
struct ScriptOverlap {
  std::int64_t count = 0;
  std::string names;       // in the order of the collectives, joined with ';'
  double max_percent = 0;  // of the kernel's duration; may exceed 100 by rounding
  std::string max_name;
  double total_ms = 0;
};
ScriptOverlap OverlapWith(const std::vector<TimedName>& collectives, double start_ms,
                          double dur_ms);

// "tiny_0.004KB", "medium_32.00MB": a thousandth of a MB counts as a KB.
std::string OperationName(double megabytes);

}  // namespace jarvis::compat
