#include "analysis/host/recording_checks.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/host/runtime_calls.h"
#include "base/interval.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

constexpr std::int64_t kNeighbourNs = 5000;
constexpr double kDispatchMaxUs = 12;  // longer: the trace has no short kernels to tell from
constexpr double kOwnFloorUs = 2;      // where nothing but the kernel is in its duration
constexpr std::int64_t kCheckSlackNs = 1000;
constexpr std::int64_t kWrongLinkNs = 1'000'000;
constexpr std::uint64_t kDisagreeMin = 3;  // one event may be wrong for a reason of its own

// Kernels, and which of them follow another of their stream at once.
struct Neighbours {
  TouchingKernels found;
  std::vector<std::int64_t> durations;
};

double ShareUs(double share, std::vector<std::int64_t>* durations) {
  const auto place = durations->begin() +
                     static_cast<std::ptrdiff_t>(share * static_cast<double>(durations->size()));
  std::nth_element(durations->begin(), place, durations->end());
  return static_cast<double>(*place) / 1000;
}

// `work`: by begin.
Neighbours FindNeighbours(const trace::EventStore& events, const std::vector<EventIndex>& work) {
  Neighbours out;
  std::unordered_map<std::uint32_t, EventIndex> last;  // of a stream
  for (const EventIndex e : work) {
    const trace::Event& event = events[e];
    if (event.kind == EventKind::kKernel) out.durations.push_back(event.dur_ns);
    const auto [place, added] = last.try_emplace(event.track, e);
    if (added) continue;
    const trace::Event& before = events[std::exchange(place->second, e)];
    if (before.kind != EventKind::kKernel || event.kind != EventKind::kKernel) continue;
    const std::int64_t gap = event.ts_ns - before.end_ns();
    if (gap < -1 || gap >= kNeighbourNs) continue;
    ++out.found.neighbours;
    out.found.touching += gap <= 1 ? 1 : 0;
  }
  out.found.kernels = out.durations.size();
  if (!out.durations.empty()) out.found.floor_us = ShareUs(0.02, &out.durations);
  return out;
}

std::vector<EventIndex> ByBegin(const trace::EventStore& events,
                                std::span<const EventIndex> gpu_work) {
  std::vector<EventIndex> work(gpu_work.begin(), gpu_work.end());
  std::sort(work.begin(), work.end(), [&](EventIndex a, EventIndex b) {
    return std::pair(events[a].ts_ns, a) < std::pair(events[b].ts_ns, b);
  });
  return work;
}

class RecordingCheck {
 public:
  RecordingCheck(const trace::EventStore& events, const tree::CallTree& tree,
                 std::span<const EventIndex> gpu_work)
      : events_(events), tree_(tree), work_(ByBegin(events, gpu_work)) {}

  RecordingChecks Run() {
    WholeMicroseconds();
    Touching();
    Clock();
    Ops();
    Annotations();
    GpuAnnotations();
    return std::move(out_);
  }

 private:
  void WholeMicroseconds() {
    constexpr std::uint64_t kEventsMin = 20;
    std::uint64_t events = 0;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const trace::Event& event = events_[e];
      if ((event.flags & trace::kLeftOut) != 0) continue;
      if (event.ts_ns % 1000 != 0 || event.dur_ns % 1000 != 0) return;
      ++events;
    }
    out_.whole_microseconds = events >= kEventsMin;
  }

  void Touching() {
    Neighbours all = FindNeighbours(events_, work_);
    if (all.durations.empty()) return;
    out_.median_kernel_us = ShareUs(0.5, &all.durations);
    // Whole microseconds touch by rounding.
    if (out_.whole_microseconds || !all.found.holds_dispatch()) return;
    out_.touching = all.found;
  }

  void Clock() {
    ClockCheck found;
    const std::int64_t slack = out_.whole_microseconds ? 2 * kCheckSlackNs : kCheckSlackNs;
    struct Launched {
      std::int64_t at;
      EventIndex work;
    };
    std::vector<Launched> launched;
    std::vector<Interval<std::int64_t>> later;
    for (const EventIndex e : work_) {
      const EventIndex launch = tree_.parent(e);
      if (launch == kNoEvent || !trace::IsLaunchCall(events_[launch].kind)) continue;
      launched.push_back({events_[launch].ts_ns, e});
      const std::int64_t early = events_[launch].ts_ns - events_[e].ts_ns;
      if (early > kWrongLinkNs) {
        if (++out_.launched_later == 1) out_.launched_later_first = e;
        out_.launched_later_us =
            std::max(out_.launched_later_us, static_cast<double>(early) / 1000);
        later.push_back({events_[e].ts_ns, events_[e].end_ns()});
        launched.pop_back();
        continue;
      }
      if (early <= slack) continue;
      if (++found.early_starts == 1) found.early_first = e;
      found.early_us = std::max(found.early_us, static_cast<double>(early) / 1000);
    }
    out_.launched_later_ms = static_cast<double>(Length(Union(std::move(later)))) / 1e6;
    found.launched = launched.size();
    std::stable_sort(launched.begin(), launched.end(),
                     [](const Launched& a, const Launched& b) { return a.at < b.at; });
    std::vector<EventIndex> waits;
    std::unordered_map<StringId, RuntimeKind> kinds;  // each name is looked at once
    for (const EventIndex e : tree_.preorder()) {
      if (!trace::IsLaunchCall(events_[e].kind)) continue;
      const auto [kind, added] = kinds.try_emplace(events_[e].name, RuntimeKind::kOther);
      if (added) kind->second = RuntimeKindOf(events_.name(e));
      if (kind->second == RuntimeKind::kDeviceSync) waits.push_back(e);
    }
    std::stable_sort(waits.begin(), waits.end(), [&](EventIndex a, EventIndex b) {
      return events_[a].ts_ns < events_[b].ts_ns;
    });
    std::size_t next = 0;
    std::int64_t end = 0;  // of all that was launched before; one device only, see below
    for (const EventIndex wait : waits) {
      for (; next < launched.size() && launched[next].at < events_[wait].ts_ns; ++next)
        end = std::max(end, events_[launched[next].work].end_ns());
      const std::int64_t late = end - events_[wait].end_ns();
      if (next == 0 || late <= slack) continue;
      if (++found.late_ends == 1) found.late_first = wait;
      found.late_us = std::max(found.late_us, static_cast<double>(late) / 1000);
    }
    // A wait is for one device: with several, others may go on working.
    if (SeveralDevices()) found.late_ends = 0;
    if (found.early_starts >= kDisagreeMin || found.late_ends > 0) out_.clock = found;
  }

  bool SeveralDevices() const {
    for (const EventIndex e : work_) {
      if (events_.tracks[events_[e].track].pid != events_.tracks[events_[work_[0]].track].pid)
        return true;
    }
    return false;
  }

  static std::string_view SpaceOf(std::string_view name) {
    const std::size_t colons = name.find("::");
    return colons == std::string_view::npos ? std::string_view() : name.substr(0, colons);
  }

  // A namespace that says of itself that its ops only watch others.
  static bool Watches(std::string_view name) {
    return SpaceOf(name).find("profiler") != std::string_view::npos;
  }

  void Ops() {
    std::map<std::pair<StringId, StringId>, WrapperOps> found;
    std::unordered_map<StringId, bool> watches;
    for (const EventIndex e : tree_.preorder()) {
      const EventIndex up = tree_.parent(e);
      if (up == kNoEvent || events_[e].kind != EventKind::kCpuOp ||
          events_[up].kind != EventKind::kCpuOp)
        continue;
      const trace::Event& event = events_[e];
      const trace::Event& outer = events_[up];
      const bool same = event.name == outer.name;
      if (!same) {
        const auto [known, added] = watches.try_emplace(outer.name, false);
        if (added) known->second = Watches(events_.name(up));
        // Its own preparations aside: an op of theirs around an op of ATen is a call, too.
        if (!known->second || SpaceOf(events_.name(e)) == "aten") continue;
      }
      WrapperOps& ops = found[{outer.name, event.name}];
      ops.name = outer.name;
      ops.inner = event.name;
      ++ops.count;
      ops.ms += static_cast<double>(event.dur_ns) / 1e6;
    }
    for (const auto& [names, ops] : found)
      out_.wrappers.push_back(ops);
    std::stable_sort(out_.wrappers.begin(), out_.wrappers.end(),
                     [](const WrapperOps& a, const WrapperOps& b) { return a.count > b.count; });
  }

  void Annotations() {
    for (const EventIndex e : tree_.preorder()) {
      const EventIndex up = tree_.parent(e);
      if (up == kNoEvent || events_[e].kind != EventKind::kUserAnnotation ||
          events_[up].name != events_[e].name)
        continue;
      const std::int64_t longer = events_[up].dur_ns - events_[e].dur_ns;
      if (longer * 50 > events_[up].dur_ns) continue;
      ++out_.repeated_annotations;
      out_.repeated_annotations_ms += static_cast<double>(events_[e].dur_ns) / 1e6;
    }
  }

  void GpuAnnotations() {
    std::vector<Interval<std::int64_t>> rows;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const trace::Event& event = events_[e];
      if (event.kind != EventKind::kGpuAnnotation || (event.flags & trace::kLeftOut) != 0) continue;
      ++out_.gpu_annotations;
      rows.push_back({event.ts_ns, event.end_ns()});
    }
    if (rows.empty()) return;
    std::vector<Interval<std::int64_t>> busy;
    for (const EventIndex e : work_)
      busy.push_back({events_[e].ts_ns, events_[e].end_ns()});
    const IntervalSet<std::int64_t> covered = Union(std::move(rows));
    const std::int64_t length = Length(covered);
    const std::int64_t idle = Length(Subtract(covered, Union(std::move(busy))));
    out_.gpu_annotations_ms = static_cast<double>(length) / 1e6;
    out_.gpu_annotations_busy_ms = static_cast<double>(length - idle) / 1e6;
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  std::vector<EventIndex> work_;  // by start
  RecordingChecks out_;
};

}  // namespace

RecordingChecks CheckRecording(const trace::EventStore& events, const tree::CallTree& tree,
                               std::span<const EventIndex> gpu_work) {
  return RecordingCheck(events, tree, gpu_work).Run();
}

double KernelFloor(const trace::EventStore& events, std::span<const EventIndex> gpu_work) {
  const Neighbours all = FindNeighbours(events, ByBegin(events, gpu_work));
  const bool whole = std::all_of(all.durations.begin(), all.durations.end(),
                                 [](std::int64_t ns) { return ns % 1000 == 0; });
  const bool holds_dispatch = !whole && all.found.holds_dispatch();
  const double floor_us = all.found.floor_us;
  if (holds_dispatch && floor_us <= kDispatchMaxUs) return floor_us;
  return std::min(floor_us, kOwnFloorUs);
}

}  // namespace jarvis::analysis
