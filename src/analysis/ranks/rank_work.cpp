#include "analysis/ranks/rank_work.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"

namespace jarvis::analysis {
namespace {

// How much of a set of time lies before an instant.
class SetMeter {
 public:
  explicit SetMeter(const IntervalSet<std::int64_t>& set) : set_(set) {
    before_.reserve(set.size());
    std::int64_t sum = 0;
    for (const auto& piece : set) {
      before_.push_back(sum);
      sum += piece.end - piece.start;
    }
  }
  std::int64_t In(std::int64_t from, std::int64_t to) const { return Until(to) - Until(from); }

 private:
  std::int64_t Until(std::int64_t at) const {
    const auto next = std::partition_point(set_.begin(), set_.end(),
                                           [&](const auto& piece) { return piece.start < at; });
    if (next == set_.begin()) return 0;
    const auto last = static_cast<std::size_t>(next - set_.begin()) - 1;
    return before_[last] + std::min(set_[last].end, at) - set_[last].start;
  }

  const IntervalSet<std::int64_t>& set_;
  std::vector<std::int64_t> before_;
};

void SortMarks(std::vector<StepMark>* marks) {
  std::stable_sort(marks->begin(), marks->end(),
                   [](const StepMark& a, const StepMark& b) { return a.start_ns < b.start_ns; });
  std::vector<StepMark> apart;
  for (const StepMark& mark : *marks) {
    if (apart.empty() || mark.start_ns >= apart.back().end_ns) apart.push_back(mark);
  }
  if (apart.size() > kRankStepsMax) apart.resize(kRankStepsMax);
  *marks = std::move(apart);
}

}  // namespace

std::vector<RankStep> FindRankSteps(std::vector<StepMark> marks, std::vector<LaunchedEnd> launched,
                                    const IntervalSet<std::int64_t>& compute,
                                    const IntervalSet<std::int64_t>& comm,
                                    const IntervalSet<std::int64_t>& busy) {
  SortMarks(&marks);
  if (marks.empty()) return {};
  std::sort(launched.begin(), launched.end(), [](const LaunchedEnd& a, const LaunchedEnd& b) {
    return std::pair(a.launch_ns, a.end_ns) < std::pair(b.launch_ns, b.end_ns);
  });
  const IntervalSet<std::int64_t> exposed = Subtract(comm, compute);
  const SetMeter compute_meter(compute);
  const SetMeter exposed_meter(exposed);
  const SetMeter busy_meter(busy);
  auto next = launched.begin();
  std::int64_t begin = marks.front().start_ns;
  // What was launched before the first mark is not of its step.
  for (; next != launched.end() && next->launch_ns < marks.front().start_ns; ++next)
    begin = std::max(begin, next->end_ns);
  std::vector<RankStep> steps;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const bool last = i + 1 == marks.size();
    const std::int64_t until = last ? marks[i].end_ns : marks[i + 1].start_ns;
    std::int64_t end = begin;
    bool any = false;
    for (; next != launched.end() && next->launch_ns < until; ++next) {
      end = std::max(end, next->end_ns);
      any = true;
    }
    if (!any) end = std::max(begin, marks[i].end_ns);
    steps.push_back({marks[i].number, begin, end - begin, busy_meter.In(begin, end),
                     compute_meter.In(begin, end), exposed_meter.In(begin, end)});
    begin = end;
  }
  return steps;
}

RankKernels FindRankKernels(const trace::EventStore& events,
                            const std::vector<trace::EventIndex>& gpu,
                            const std::vector<trace::EventIndex>& comm) {
  const std::unordered_set<trace::EventIndex> is_comm(comm.begin(), comm.end());
  std::unordered_map<StringId, RankKernel> by_id;
  for (const trace::EventIndex e : gpu) {
    if (is_comm.contains(e)) continue;
    RankKernel& of = by_id[events[e].name];
    ++of.count;
    of.total_ns += events[e].dur_ns;
  }
  // Names that are equal after the cut are one.
  std::map<std::string, RankKernel> by_name;
  for (const auto& [id, of] : by_id) {
    RankKernel& kernel = by_name[std::string(Utf8Prefix(events.strings[id], kKernelNameMax))];
    kernel.count += of.count;
    kernel.total_ns += of.total_ns;
  }
  RankKernels kernels;
  for (auto& [name, of] : by_name)
    kernels.list.push_back({name, of.count, of.total_ns});
  std::stable_sort(
      kernels.list.begin(), kernels.list.end(),
      [](const RankKernel& a, const RankKernel& b) { return a.total_ns > b.total_ns; });
  for (std::size_t i = kRankKernelsMax; i < kernels.list.size(); ++i) {
    kernels.rest.count += kernels.list[i].count;
    kernels.rest.total_ns += kernels.list[i].total_ns;
  }
  if (kernels.list.size() > kRankKernelsMax) kernels.list.resize(kRankKernelsMax);
  return kernels;
}

}  // namespace jarvis::analysis
