#include "findings/one/section_waits.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "findings/one/advice_rules.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/wait_causes.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

class SectionWaitFinder {
 public:
  explicit SectionWaitFinder(const HostEvidence& evidence)
      : e_(evidence), events_(evidence.trace.events()), launches_(evidence.host.launches.all()) {
    for (const analysis::WaitGroup& group : e_.host.waits) {
      const bool value = KindOfWait(group.op, false, false) == WaitKind::kScalar;
      for (const EventIndex call : group.calls)
        calls_.push_back({call, value});
    }
    std::sort(calls_.begin(), calls_.end(), [&](const Call& a, const Call& b) {
      return std::tie(events_[a.wait].ts_ns, a.wait) < std::tie(events_[b.wait].ts_ns, b.wait);
    });
    kernels_.reserve(launches_.size() + 1);
    for (const analysis::Launch& launch : launches_)
      kernels_.push_back(kernels_.back() + (launch.kernel ? 1 : 0));
  }

  std::vector<analysis::Change> Run(const IntervalSet<std::int64_t>& stretches) {
    for (const Interval<std::int64_t>& stretch : stretches)
      Add(stretch);
    if (waits_.calls.empty()) return {};
    host_.insert(host_.end(), stretches.begin(), stretches.end());
    std::vector<analysis::Change> changes{
        std::move(waits_), analysis::ScaleHost{StretchesOf(Union(std::move(host_))), 0}};
    if (!copies_.events.empty()) changes.emplace_back(std::move(copies_));
    return changes;
  }

 private:
  struct Call {
    EventIndex wait;
    bool value;  // fetches one value for Python
  };

  void Add(const Interval<std::int64_t>& stretch) {
    const std::int64_t from = AfterLastKernel(stretch.start);
    auto call = std::ranges::lower_bound(calls_, from, {},
                                         [&](const Call& one) { return events_[one.wait].ts_ns; });
    const std::size_t before = waits_.calls.size();
    std::int64_t start = stretch.start;
    for (; call != calls_.end() && events_[call->wait].ts_ns < stretch.end; ++call) {
      const EventIndex outer = OuterOf(call->wait, from);
      if ((!call->value && !HoldsMostOf(outer, stretch)) || Uploads(call->wait)) continue;
      waits_.calls.push_back(call->wait);
      start = std::min(start, events_[outer].ts_ns);
    }
    if (waits_.calls.size() == before) return;
    host_.push_back({start, stretch.end});
    for (const analysis::Launch& launch : Launched(start, stretch.end)) {
      if (IsCopy(launch.work, CopyDirection::kToHost)) copies_.events.push_back(launch.work);
    }
  }

  // The first moment behind the begin of the last call before `ns` that launches a kernel.
  std::int64_t AfterLastKernel(std::int64_t ns) const {
    const std::size_t count = kernels_[Before(ns)];
    if (count == 0) return trace::kAbsent;
    const auto past = std::ranges::lower_bound(kernels_, count);
    return launches_[static_cast<std::size_t>(past - kernels_.begin()) - 1].call_ns + 1;
  }

  // How many launches are called before `ns`.
  std::size_t Before(std::int64_t ns) const {
    const auto at = std::ranges::lower_bound(launches_, ns, {}, &analysis::Launch::call_ns);
    return static_cast<std::size_t>(at - launches_.begin());
  }
  std::span<const analysis::Launch> Launched(std::int64_t from, std::int64_t to) const {
    const std::size_t first = Before(from);
    return launches_.subspan(first, std::max(first, Before(to)) - first);
  }

  bool IsCopy(EventIndex gpu, CopyDirection direction) const {
    return events_[gpu].kind == trace::EventKind::kMemcpy &&
           DirectionOf(e_.trace, gpu) == direction;
  }

  // What the host stages for the GPU is not of the work behind it.
  bool Uploads(EventIndex call) const {
    const EventIndex op = e_.trace.tree().parent(call);
    const auto gpu = e_.trace.tree().GpuBelow(op == trace::kNoEvent ? call : op);
    return std::ranges::any_of(
        gpu, [&](EventIndex work) { return IsCopy(work, CopyDirection::kToDevice); });
  }

  // The outermost op or function around a call that launches no kernel.
  EventIndex OuterOf(EventIndex call, std::int64_t from) const {
    EventIndex outer = call;
    for (EventIndex up = e_.trace.tree().parent(call); up != trace::kNoEvent;
         up = e_.trace.tree().parent(up)) {
      const trace::Event& event = events_[up];
      const bool kernel = kernels_[Before(event.end_ns())] > kernels_[Before(event.ts_ns)];
      if (event.ts_ns < from || kernel) break;
      outer = up;
    }
    return outer;
  }

  bool HoldsMostOf(EventIndex e, const Interval<std::int64_t>& stretch) const {
    const trace::Event& event = events_[e];
    const std::int64_t inside =
        std::min(event.end_ns(), stretch.end) - std::max(event.ts_ns, stretch.start);
    return 2 * inside > stretch.end - stretch.start;
  }

  const HostEvidence& e_;
  const trace::EventStore& events_;
  const std::span<const analysis::Launch> launches_;
  std::vector<Call> calls_;                 // that wait, by begin
  std::vector<std::size_t> kernels_ = {0};  // among so many first launches
  analysis::RemoveWaits waits_;
  analysis::RemoveGpu copies_;
  IntervalSet<std::int64_t> host_;
};

}  // namespace

std::vector<analysis::Change> WorkWithItsWaits(const HostEvidence& evidence,
                                               const IntervalSet<std::int64_t>& stretches) {
  return SectionWaitFinder(evidence).Run(stretches);
}

}  // namespace jarvis::findings
