// Columns of the summaries: one metric, aggregated in the ways that were asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "table/table.h"

namespace jarvis::analysis {

// mean, median, std, min, max, sum. kBadValue names the others.
Status CheckAggregations(const std::vector<std::string>& names);

// "<metric>_<aggregation>" for each.
void AddAggregateColumns(const std::string& metric, const std::vector<std::string>& names,
                         std::vector<std::string>* columns);
// The cells under them, of those values that are there.
void AddAggregates(const std::vector<std::optional<double>>& values,
                   const std::vector<std::string>& names, std::vector<Cell>* row);

}  // namespace jarvis::analysis
