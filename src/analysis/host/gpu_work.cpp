#include "analysis/host/gpu_work.h"

#include <algorithm>
#include <utility>

#include "base/run_sort.h"

namespace jarvis::analysis {

CoveredTime::CoveredTime(IntervalSet<std::int64_t> covered) : covered_(std::move(covered)) {
  std::int64_t before = 0;
  before_.reserve(covered_.size());
  for (const Interval<std::int64_t>& piece : covered_) {
    before_.push_back(before);
    before += piece.end - piece.start;
  }
}

std::int64_t CoveredTime::Before(std::int64_t at_ns) const {
  const auto after = std::upper_bound(
      covered_.begin(), covered_.end(), at_ns,
      [](std::int64_t at, const Interval<std::int64_t>& piece) { return at < piece.start; });
  if (after == covered_.begin()) return 0;
  const auto last = static_cast<std::size_t>(after - covered_.begin()) - 1;
  return before_[last] + std::min(at_ns, covered_[last].end) - covered_[last].start;
}

HostGpuWork::HostGpuWork(const trace::EventStore& events) {
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if (!trace::IsGpuWork(event.kind) || (event.flags & trace::kLeftOut) != 0) continue;
    by_start_.push_back(e);
  }
  RunSort(by_start_, [&](trace::EventIndex a, trace::EventIndex b) {
    if (events[a].ts_ns != events[b].ts_ns) return events[a].ts_ns < events[b].ts_ns;
    return events[a].uid < events[b].uid;
  });
  std::vector<Interval<std::int64_t>> intervals;
  intervals.reserve(by_start_.size());
  for (const trace::EventIndex e : by_start_)
    intervals.push_back({events[e].ts_ns, events[e].end_ns()});
  busy_ = CoveredTime(Union(std::move(intervals)));
}

}  // namespace jarvis::analysis
