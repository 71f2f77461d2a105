#include "compat/run_timeline.h"

#include <vector>

#include "analysis/attribution/stats.h"
#include "base/check.h"

namespace jarvis::compat {

RunTimeline TimelineOf(const RunTables& run) {
  RunTimeline timeline;
  for (const auto& [rank, table] : run.timelines) {
    for (const auto& [type, share] : analysis::TimelineShares(*table))
      timeline[type][rank] = share;
  }
  return timeline;
}

analysis::TimelineShare MeanOf(const ShareOfRank& ranks) {
  JV_CHECK(!ranks.empty());
  std::vector<double> ms;
  std::vector<double> percent;
  for (const auto& [rank, share] : ranks) {
    ms.push_back(share.ms);
    percent.push_back(share.percent);
  }
  const auto count = static_cast<double>(ranks.size());
  return {analysis::PairwiseSum(ms) / count, analysis::PairwiseSum(percent) / count};
}

}  // namespace jarvis::compat
