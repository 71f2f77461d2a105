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
// 6 of ops_summary, batched products counted as one (B = 1), and categories that it did not know
// yet as "other". Other tables stay as they are.
void ShapeAsOf2025(std::vector<Table>* tables);

// A number that the scripts wrote as CSV and read back: their parser (pandas' "high" precision)
// adds up 17 digits in a double, so that the last bit may differ.
double ReadBack(double value);

// "tiny_0.004KB", "medium_32.00MB": a thousandth of a MB counts as a KB.
std::string OperationName(double megabytes);

}  // namespace jarvis::compat
