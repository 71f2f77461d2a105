#include "analysis/host/synchronisations.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/host/copy_direction.h"
#include "base/interval.h"
#include "base/median.h"

namespace jarvis::analysis {
namespace {

using trace::Event;
using trace::EventIndex;
using trace::kNoEvent;

// Clocks of host and GPU agree to about this.
constexpr std::int64_t kClockSlackNs = 2000;
// Launch queues hold 1,024 entries on all devices that we know; a little less is full, as what
// is submitted between two readings of the clock is not seen.
constexpr std::uint64_t kFullQueue = 900;
constexpr std::int64_t kFullQueueCallNs = 50'000;
// A wait without recorded work is a wait for something from here on; below, it is a call's cost.
constexpr std::int64_t kUnrecordedNs = 1'000'000;
// Shorter copies are too short to tell whether the host went along with them.
constexpr std::int64_t kCopiedAlongNs = 100'000;
// Callers nest without limit, and each wait may be at their bottom.
constexpr int kLevelsMax = 256;

// Copies within the device return at once, whatever they are called.
bool IsDeviceCopy(std::string_view work) {
  return DirectionOf(work) == CopyDirection::kOnDevice;
}

class WaitFinder {
 public:
  WaitFinder(const trace::EventStore& events, const tree::CallTree& tree, const HostGpuWork& gpu,
             const Launches& launches, HostNames* names)
      : events_(events), tree_(tree), gpu_(gpu), launches_(launches), names_(*names) {}

  Waits Find() {
    std::vector<Interval<std::int64_t>> foreign;
    // Where no launches are recorded at all, none is missing.
    if (!launches_.all().empty()) {
      for (const EventIndex e : tree_.unlinked())
        foreign.push_back({events_[e].ts_ns, events_[e].end_ns()});
    }
    foreign_ = CoveredTime(Union(std::move(foreign)));
    out_.is_wait.assign(events_.size(), 0);
    for (const EventIndex e : tree_.preorder()) {
      const Event& event = events_[e];
      if (!trace::IsLaunchCall(event.kind)) continue;
      const EventIndex parent = tree_.parent(e);
      // A runtime call's own driver call is no second wait.
      if (parent != kNoEvent && trace::IsLaunchCall(events_[parent].kind)) continue;
      Look(e, event);
    }
    return std::move(out_);
  }

 private:
  void Look(EventIndex e, const Event& event) {
    WaitingCall wait{e, event.ts_ns, event.end_ns(), 0, 0, 0, WaitCause::kNothing};
    bool full_queue = false;
    switch (names_.Of(e).call) {
      case RuntimeKind::kDeviceSync:
      case RuntimeKind::kStreamSync:
      case RuntimeKind::kEventSync: break;
      case RuntimeKind::kCopy:
        if (!WaitsForCopy(e, event, &wait)) return;
        break;
      case RuntimeKind::kFree:
        // Giving memory back has work of its own, and the first such call sets the device up.
        if (gpu_.BusyNs(wait.start_ns, wait.end_ns) * 2 < event.dur_ns) return;
        break;
      case RuntimeKind::kLaunch:
        full_queue =
            event.dur_ns >= kFullQueueCallNs && launches_.PendingAt(event.ts_ns) >= kFullQueue;
        if (!full_queue) return;
        break;
      default: return;
    }
    wait.gpu_ns = gpu_.BusyNs(wait.start_ns, wait.end_ns);
    wait.foreign_ns = foreign_.Within(wait.start_ns, wait.end_ns);
    wait.cause = full_queue ? WaitCause::kFullQueue : CauseOf(wait);
    out_.is_wait[e] = static_cast<std::uint8_t>(1 + static_cast<std::uint8_t>(wait.cause));
    out_.calls.push_back(wait);
  }

  // Whether the host came back after its copy; how long the copy ran during the call.
  bool WaitsForCopy(EventIndex e, const Event& event, WaitingCall* wait) const {
    std::int64_t end = trace::kAbsent;
    bool to_or_from_host = false;
    for (const EventIndex work : tree_.GpuBelow(e)) {
      const Event& copy = events_[work];
      end = std::max(end, copy.end_ns());
      wait->copy_ns += std::max<std::int64_t>(
          0, std::min(copy.end_ns(), event.end_ns()) - std::max(copy.ts_ns, event.ts_ns));
      if (copy.kind == trace::EventKind::kMemcpy && !IsDeviceCopy(events_.name(work))) {
        to_or_from_host = true;
      }
    }
    if (names_.Of(e).sync_call) return true;
    if (!to_or_from_host) return false;
    // A copy from pageable memory lets the host go when the bytes are on their way.
    const bool copied_along = event.dur_ns >= kCopiedAlongNs && wait->copy_ns * 2 >= event.dur_ns;
    return copied_along || end <= event.end_ns() + kClockSlackNs;
  }

  static WaitCause CauseOf(const WaitingCall& wait) {
    const std::int64_t took = wait.end_ns - wait.start_ns;
    if (wait.copy_ns * 2 > took) return WaitCause::kOwnCopy;
    if (wait.foreign_ns * 2 >= took && wait.foreign_ns > 0) return WaitCause::kForeign;
    if (wait.gpu_ns * 2 >= took && wait.gpu_ns > 0) return WaitCause::kGpuWork;
    if (took >= kUnrecordedNs) return WaitCause::kUnrecorded;
    return wait.gpu_ns > wait.copy_ns ? WaitCause::kGpuWork : WaitCause::kNothing;
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const HostGpuWork& gpu_;
  const Launches& launches_;
  HostNames& names_;
  CoveredTime foreign_;  // work without a recorded launch
  Waits out_;
};

struct CallerNames {
  StringId call = kNoString;
  StringId op = kNoString;
  StringId code = kNoString;
  StringId range = kNoString;
  auto operator<=>(const CallerNames&) const = default;
};

CallerNames CallerOf(const trace::EventStore& events, const tree::CallTree& tree, EventIndex e,
                     HostNames* names) {
  CallerNames caller;
  caller.call = events[e].name;
  if (const EventIndex op = CallingOp(events, tree, e, names); op != kNoEvent) {
    caller.op = events[op].name;
  }
  int levels = 0;
  for (EventIndex up = tree.parent(e); up != kNoEvent && ++levels < kLevelsMax;
       up = tree.parent(up)) {
    const trace::EventKind kind = events[up].kind;
    const bool frame = kind == trace::EventKind::kPythonFunction;
    const bool range = kind == trace::EventKind::kUserAnnotation ||
                       (kind == trace::EventKind::kCpuOp && names->Of(up).range);
    if (frame && caller.code == kNoString && names->Of(up).user_frame)
      caller.code = events[up].name;
    if (range && caller.range == kNoString && !events.name(up).starts_with("ProfilerStep#"))
      caller.range = events[up].name;
    if (caller.code != kNoString && caller.range != kNoString) break;
  }
  return caller;
}

struct GatheredWaits {
  WaitGroup group;
  std::vector<const WaitingCall*> calls;
  std::array<std::int64_t, 6> by_cause{};  // time, by WaitCause
};

void AddWait(const WaitingCall& wait, GatheredWaits* to) {
  const std::int64_t took = wait.end_ns - wait.start_ns;
  to->calls.push_back(&wait);
  to->by_cause[static_cast<std::size_t>(wait.cause)] += took;
  ++to->group.count;
  to->group.total_ns += took;
  to->group.max_ns = std::max(to->group.max_ns, took);
  to->group.gpu_ns += wait.gpu_ns;
  to->group.copy_ns += wait.copy_ns;
  to->group.foreign_ns += wait.foreign_ns;
  if (wait.cause == WaitCause::kUnrecorded) to->group.unrecorded_ns += took - wait.gpu_ns;
  if (wait.gpu_ns == 0) ++to->group.found_done;
}

void FinishWaits(const trace::EventStore& events, const CallerNames& caller,
                 GatheredWaits* gathered) {
  WaitGroup& group = gathered->group;
  group.call = events.text(caller.call);
  group.op = events.text(caller.op);
  group.code = events.text(caller.code);
  group.range = events.text(caller.range);
  std::vector<std::int64_t> took;
  for (const WaitingCall* wait : gathered->calls) {
    took.push_back(wait->end_ns - wait->start_ns);
    group.calls.push_back(wait->call);
  }
  group.median_ns = UpperMedian(std::move(took));
  const auto most = std::max_element(gathered->by_cause.begin(), gathered->by_cause.end());
  group.cause = static_cast<WaitCause>(most - gathered->by_cause.begin());
}

// The name with most of the GPU's time while the calls waited; one pass over the GPU's work.
void NameWork(const trace::EventStore& events, const HostGpuWork& gpu, GatheredWaits* gathered) {
  if (gathered->group.gpu_ns == 0) return;
  std::vector<Interval<std::int64_t>> windows;
  for (const WaitingCall* wait : gathered->calls)
    windows.push_back({wait->start_ns, wait->end_ns});
  const CoveredTime waited(Union(std::move(windows)));
  std::unordered_map<StringId, std::int64_t> by_name;
  for (const EventIndex e : gpu.by_start()) {
    const Event& work = events[e];
    const std::int64_t ns = waited.Within(work.ts_ns, work.end_ns());
    if (ns > 0) by_name[work.name] += ns;
  }
  std::int64_t total = 0;
  const std::pair<const StringId, std::int64_t>* best = nullptr;
  for (const auto& entry : by_name) {
    total += entry.second;
    const bool more = best == nullptr || entry.second > best->second ||
                      (entry.second == best->second && entry.first < best->first);
    if (more) best = &entry;
  }
  if (best == nullptr || total <= 0) return;
  gathered->group.waits_for = events.text(best->first);
  gathered->group.waits_for_percent =
      100.0 * static_cast<double>(best->second) / static_cast<double>(total);
}

}  // namespace

std::string_view WaitCauseText(WaitCause cause) {
  constexpr std::array<std::string_view, 6> kTexts = {"gpu work",
                                                      "work launched before the recording",
                                                      "its own copy",
                                                      "work that is not recorded",
                                                      "a full launch queue",
                                                      "nothing"};
  return kTexts[static_cast<std::size_t>(cause)];
}

EventIndex CallingOp(const trace::EventStore& events, const tree::CallTree& tree, EventIndex e,
                     HostNames* names) {
  EventIndex op = kNoEvent;
  int levels = 0;
  for (EventIndex up = tree.parent(e); up != kNoEvent && ++levels < kLevelsMax;
       up = tree.parent(up)) {
    if (events[up].kind != trace::EventKind::kCpuOp || names->Of(up).range) {
      if (op != kNoEvent || events[up].kind != trace::EventKind::kPythonFunction) break;
      continue;
    }
    if (op == kNoEvent) {
      op = up;
      if (!events.name(up).starts_with("aten::")) break;
    } else if (events.name(up).starts_with("aten::")) {
      op = up;
    } else {
      break;
    }
  }
  return op;
}

Waits FindWaits(const trace::EventStore& events, const tree::CallTree& tree, const HostGpuWork& gpu,
                const Launches& launches, HostNames* names) {
  return WaitFinder(events, tree, gpu, launches, names).Find();
}

std::vector<WaitGroup> GroupWaits(const trace::EventStore& events, const tree::CallTree& tree,
                                  const HostGpuWork& gpu, const Waits& waits, HostNames* names) {
  std::map<CallerNames, GatheredWaits> groups;
  for (const WaitingCall& wait : waits.calls)
    AddWait(wait, &groups[CallerOf(events, tree, wait.call, names)]);
  std::vector<GatheredWaits*> order;
  for (auto& [caller, gathered] : groups) {
    FinishWaits(events, caller, &gathered);
    order.push_back(&gathered);
  }
  std::stable_sort(order.begin(), order.end(), [](const GatheredWaits* a, const GatheredWaits* b) {
    if (a->group.total_ns != b->group.total_ns) return a->group.total_ns > b->group.total_ns;
    return std::tie(a->group.call, a->group.op, a->group.code) <
           std::tie(b->group.call, b->group.op, b->group.code);
  });
  // Naming reads the GPU's work once for each group, so only those that matter are named.
  constexpr std::size_t kNamedMax = 48;
  std::vector<WaitGroup> out;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i < kNamedMax) NameWork(events, gpu, order[i]);
    out.push_back(std::move(order[i]->group));
  }
  return out;
}

}  // namespace jarvis::analysis
