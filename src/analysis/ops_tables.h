// Tables about operations: ops_summary_by_category, ops_summary, ops_unique_args.
#pragma once

#include <vector>

#include "analysis/attribution.h"
#include "analysis/table_rules.h"
#include "table/table.h"
#include "trace/metadata.h"

namespace jarvis::analysis {

// What the tables are made from.
struct TableInput {
  const EventStore& events;
  const std::vector<trace::TrackNames>& track_names;
  const Attribution& attribution;
  const TableRules& rules;
  // By event, as tree::MarkRecompute gives it. With it the tables have a column is_recompute and
  // keep recomputed calls apart; null: no such column.
  const std::vector<char>* recompute = nullptr;

  bool Recomputed(EventIndex e) const {
    return recompute != nullptr && e != kNoEvent && (*recompute)[e] != 0;
  }
};

// The name of a launcher in a table: the op's, or "(unlinked) <kernel>".
std::string LauncherName(const EventStore& events, const Attribution& attribution,
                         const Launcher& launcher);

Table OpsSummaryByCategory(const TableInput& input);
Table OpsSummary(const TableInput& input);

// One row a distinct (op, argument list).
struct UniqueArgsRow {
  std::vector<std::size_t> launchers;  // indices into Attribution::launchers, in order
  double direct_us = 0;                // sum
};
// Ordered by time, the longest first; ties by the first call's uid.
std::vector<UniqueArgsRow> GroupUniqueArgs(const TableInput& input);
Table OpsUniqueArgs(const TableInput& input, const std::vector<UniqueArgsRow>& rows);

}  // namespace jarvis::analysis
