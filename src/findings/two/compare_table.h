// The rows of a comparison of two traces as a table, with every figure that a verdict rests on.
#pragma once

#include "findings/two/compare_traces.h"
#include "table/table.h"

namespace jarvis::findings {

// Two rows for all that is in one trace only come first, whatever the rest is; then result.rows.
inline constexpr std::size_t kUnmatchedRows = 2;
// Columns: the name (as `by` is called), shape (by op), candidate_ms, baseline_ms,
// candidate_over_baseline, baseline_over_candidate, expected_candidate_over_baseline,
// unexpected_ms, verdict, candidate_calls, baseline_calls, bound,
// expected_with_fixed_cost, candidate_roof_ms, baseline_roof_ms,
// not_judged (why).
Table CompareTable(const TraceComparison& result, analysis::GroupBy by);

// A shape for reading: without the scalars at its end, at most about 72 bytes.
std::string ShortShape(std::string shape);

// "op", "category", "kernel", "module".
std::string_view CompareName(analysis::GroupBy by);

}  // namespace jarvis::findings
