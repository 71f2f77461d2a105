// Which node a rank is on, and whether a group stays on one; how lists of ranks are recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/ranks/rank_set.h"
#include "table/table.h"

namespace jarvis::analysis {

// node_id and node_span as last columns of the tables that have ranks or groups.
void AddNodeColumns(const RankSet& set, std::int64_t gpus_per_node, std::vector<Table>* tables);

// The ranks in "[0, 1, 2, 3]", "(0, 2)" or "0, 2"; of other text the whole numbers in it. Nothing
// if the text is a value of another kind ("{0, 1}", "7", "'a'").
std::vector<std::int64_t> RanksIn(std::string_view text);
// The numbers of a recorded list of splits ("[4, 5]", "(4, 5)"); nothing: not recorded, or no list.
std::optional<std::vector<std::int64_t>> SplitsIn(const Cell& cell);

}  // namespace jarvis::analysis
