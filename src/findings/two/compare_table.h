// The rows of a comparison of two traces as a table, with every figure that a verdict rests on.
#pragma once

#include "findings/two/compare_traces.h"
#include "table/table.h"

namespace jarvis::findings {

// Two rows for all that is in one trace only come first, whatever the rest is; then result.rows.
inline constexpr std::size_t kUnmatchedRows = 2;
// Columns: the name (as `by` is called), shape (by op), primary_ms, comparison_ms,
// primary_over_comparison, comparison_over_primary, expected_primary_over_comparison,
// unexpected_ms, verdict, primary_calls, comparison_calls, bound,
// expected_with_fixed_cost, primary_roof_ms, comparison_roof_ms,
// not_judged (why).
Table CompareTable(const TraceComparison& result, analysis::GroupBy by);

// A shape for reading: without the scalars at its end, at most about 72 bytes.
std::string ShortShape(std::string shape);

// "op", "category", "kernel", "module".
std::string_view CompareName(analysis::GroupBy by);

}  // namespace jarvis::findings
