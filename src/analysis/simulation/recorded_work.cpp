#include "analysis/simulation/recorded_work.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/attribution/attribution.h"
#include "analysis/host/copy_direction.h"
#include "analysis/host/host_names.h"
#include "analysis/host/runtime_calls.h"
#include "base/run_sort.h"
#include "base/text.h"
#include "trace/by_name.h"
#include "trace/json_text.h"

namespace jarvis::analysis {
namespace {

// Of a batch from the workers: what is waited beyond handing it over, which takes as long each
// time and no longer than that.
constexpr std::int64_t kArrivalWaitNs = 1'000'000, kHandOverMostNs = 3'000'000;

using trace::Event;
using trace::EventIndex;
using trace::EventKind;

// A call that lasts this long is kept whatever it is: it may be a wait, and it is no small step
// between two launches.
constexpr double kLongCallUs = 50;

bool Contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

struct CallTraits {
  CallRole role = CallRole::kOther;
  bool graph = false;
  bool returns_late = false;
  bool kept = false;  // however short it is
};

CallRole RoleOf(std::string_view name) {
  switch (RuntimeKindOf(name)) {
    case RuntimeKind::kLaunch:
    case RuntimeKind::kGraphLaunch: return CallRole::kLaunch;
    case RuntimeKind::kCopy: return Contains(name, "emcpy") ? CallRole::kCopy : CallRole::kLaunch;
    case RuntimeKind::kDeviceSync: return CallRole::kDeviceWait;
    case RuntimeKind::kStreamSync: return CallRole::kStreamWait;
    case RuntimeKind::kEventSync: return CallRole::kEventWait;
    case RuntimeKind::kFree: return CallRole::kFree;
    case RuntimeKind::kAllocate: return CallRole::kMayWait;
    case RuntimeKind::kEventRecord: return CallRole::kRecordEvent;
    case RuntimeKind::kStreamWait: return CallRole::kStreamOrder;
    case RuntimeKind::kSetUp:
    case RuntimeKind::kOther: break;
  }
  for (const std::string_view part : {"ModuleUnload", "StreamDestroy", "EventElapsedTime",
                                      "BeginCapture", "GraphInstantiate", "GraphExecDestroy"}) {
    if (Contains(name, part)) return CallRole::kMayWait;
  }
  return CallRole::kOther;
}

CallTraits TraitsOf(std::string_view name) {
  CallTraits traits;
  traits.role = RoleOf(name);
  traits.graph = IsGraphLaunch(name);
  traits.returns_late = traits.role == CallRole::kCopy && IsSyncCall(name);
  traits.kept = (traits.role != CallRole::kOther && traits.role != CallRole::kCopy &&
                 traits.role != CallRole::kLaunch) ||
                Contains(name, "Launch");
  return traits;
}

void DescribeWork(std::string_view name, GpuWork* work) {
  if (work->kind == EventKind::kMemcpy) {
    const CopyDirection direction = DirectionOf(name);
    work->to_host = direction == CopyDirection::kToHost;
    work->from_host = direction == CopyDirection::kToDevice;
    work->pageable = Contains(name, "Pageable");
    work->pinned = Contains(name, "Pinned");
  }
  work->collective = IsCollectiveName(name) || Contains(name, "all_reduce") ||
                     Contains(name, "AllReduce") || Contains(name, "multimem");
}

class Collector {
 public:
  Collector(const trace::EventStore& events, const tree::CallTree& tree)
      : events_(events), tree_(tree) {}

  RecordedWork Run() {
    if (!FindBase()) return {};
    CollectWorks();
    CollectCalls();
    CollectThreads();
    LinkWorks();
    OrderWorks(&out_);
    return std::move(out_);
  }

 private:
  bool Counts(EventIndex e) const { return (events_[e].flags & trace::kLeftOut) == 0; }

  bool FindBase() {
    std::optional<std::int64_t> first;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const Event& event = events_[e];
      if (!Counts(e) || !(tree::IsHost(event.kind) || trace::IsGpuWork(event.kind))) continue;
      first = first ? std::min(*first, event.ts_ns) : event.ts_ns;
    }
    if (first) out_.base_ns = *first;
    return first.has_value();
  }

  void CollectWorks() {
    launches_.assign(events_.size(), false);
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const Event& event = events_[e];
      if (!Counts(e) || !trace::IsGpuWork(event.kind)) continue;
      GpuWork work;
      work.start = out_.Micros(event.ts_ns);
      work.end = out_.Micros(event.end_ns());
      work.stream = event.track;
      work.name = event.name;
      work.event = e;
      work.kind = event.kind;
      Describe(&work);
      if (event.kind == EventKind::kMemcpy) work.bytes = BytesOf(e);
      out_.works.push_back(work);
      const EventIndex call = tree_.parent(e);
      if (call != trace::kNoEvent && trace::IsLaunchCall(events_[call].kind))
        launches_[call] = true;
    }
  }

  // Names repeat: each is looked at once for kernels, and copies are few kinds.
  void Describe(GpuWork* work) {
    if (known_works_.size() <= work->name) known_works_.resize(events_.strings.size());
    std::optional<GpuWork>& known = known_works_[work->name];
    if (!known || known->kind != work->kind) {
      known = *work;
      DescribeWork(events_.strings[work->name], &*known);
    }
    work->to_host = known->to_host;
    work->from_host = known->from_host;
    work->pageable = known->pageable;
    work->pinned = known->pinned;
    work->collective = known->collective;
  }

  double BytesOf(EventIndex e) const {
    const std::string_view more = events_.text(events_.args_of(e).other);
    for (const char* key : {"bytes", "Bytes", "size"}) {
      const auto value = ParseDouble(trace::Unquoted(trace::MemberOf(more, key)));
      if (value && *value > 0) return *value;
    }
    return 0;
  }

  const CallTraits& Traits(StringId name) {
    if (known_.size() <= name) known_.resize(events_.strings.size());
    std::optional<CallTraits>& traits = known_[name];
    if (!traits) traits = TraitsOf(events_.strings[name]);
    return *traits;
  }

  void CollectCalls() {
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const Event& event = events_[e];
      if (!Counts(e) || !trace::IsLaunchCall(event.kind)) continue;
      const CallTraits& traits = Traits(event.name);
      HostCall call;
      call.begin = out_.Micros(event.ts_ns);
      call.end = out_.Micros(event.end_ns());
      if (!traits.kept && !launches_[e] && call.duration() < kLongCallUs) continue;
      call.thread = event.track;
      call.name = event.name;
      call.event = e;
      call.role = traits.role;
      call.graph = traits.graph;
      call.returns_late = traits.returns_late;
      out_.calls.push_back(call);
    }
    RunSort(out_.calls, [](const HostCall& a, const HostCall& b) {
      return std::tuple(a.begin, -a.end, a.event) < std::tuple(b.begin, -b.end, b.event);
    });
  }

  // Threads in the order of their tracks; calls name them by place from here on.
  void CollectThreads() {
    std::vector<std::uint32_t> place(events_.tracks.size(), kNoPlace);
    for (const HostCall& call : out_.calls)
      place[call.thread] = 0;
    for (std::uint32_t track = 0; track < place.size(); ++track) {
      if (place[track] == kNoPlace) continue;
      place[track] = static_cast<std::uint32_t>(out_.threads.size());
      out_.threads.emplace_back().track = track;
    }
    for (std::uint32_t i = 0; i < out_.calls.size(); ++i) {
      HostCall& call = out_.calls[i];
      call.thread = place[call.thread];
      HostThread& thread = out_.threads[call.thread];
      if (!thread.calls.empty()) {
        // A call that seems to end in the next one ended before it: times were rounded.
        HostCall& last = out_.calls[thread.calls.back()];
        if (last.end > call.begin && last.end < call.end) last.end = call.begin;
        if (last.role == CallRole::kCopy && call.role == CallRole::kStreamWait &&
            AreOfOneOp(last, call))
          last.then_sync = i;
      }
      thread.calls.push_back(i);
      if (launches_[call.event]) ++thread.launches;
    }
    struct NameFacts {
      bool autograd = false, from_workers = false;
    };
    trace::ByName<NameFacts> facts(events_, [](std::string_view name) {
      return NameFacts{IsAutogradNode(name), IsWaitForWorkers(name)};
    });
    std::vector<std::pair<EventIndex, HostThread*>> batches;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const Event& event = events_[e];
      if (!tree::IsHost(event.kind) || !Counts(e) || place[event.track] == kNoPlace) continue;
      HostThread& thread = out_.threads[place[event.track]];
      AddActivity(e, &thread);
      if (trace::IsLaunchCall(event.kind) || event.kind == EventKind::kPythonFunction) continue;
      const NameFacts& of = facts.Of(e);
      if (of.autograd && event.kind == EventKind::kCpuOp) ++thread.autograd_nodes;
      if (of.from_workers) batches.emplace_back(e, &thread);
    }
    AddArrivals(batches);
    for (HostThread& thread : out_.threads) {
      RunSort(thread.activity, std::less<>());
      RunSort(thread.arrivals, std::less<>());
      thread.activity.erase(std::unique(thread.activity.begin(), thread.activity.end()),
                            thread.activity.end());
      RunSort(thread.in_calls, [](const auto& a, const auto& b) {
        return std::tie(a.start, a.end) < std::tie(b.start, b.end);
      });
    }
  }

  bool AreOfOneOp(const HostCall& a, const HostCall& b) const {
    const EventIndex op = tree_.parent(a.event);
    return op != trace::kNoEvent && op == tree_.parent(b.event) &&
           events_[op].kind == EventKind::kCpuOp;
  }

  void AddArrivals(const std::vector<std::pair<EventIndex, HostThread*>>& batches) const {
    std::int64_t wait = kHandOverMostNs;
    for (const auto& [batch, thread] : batches)
      wait = std::min(wait, events_[batch].dur_ns + kArrivalWaitNs);
    for (const auto& [batch, thread] : batches) {
      if (events_[batch].dur_ns >= wait)
        thread->arrivals.push_back(out_.Micros(events_[batch].end_ns()));
    }
  }

  void AddActivity(EventIndex e, HostThread* thread) const {
    const Event& event = events_[e];
    const double begin = out_.Micros(event.ts_ns);
    const double end = out_.Micros(event.end_ns());
    thread->activity.push_back(begin);
    // Frames of Python that are open at the end of the recording last until then: no activity.
    if (event.kind != EventKind::kPythonFunction)
      thread->last_end = std::max(thread->last_end, end);
    if (trace::IsLaunchCall(event.kind)) thread->in_calls.push_back({begin, end});
  }

  void LinkWorks() {
    std::vector<std::uint32_t> place_of(events_.size(), kNoPlace);
    for (std::uint32_t i = 0; i < out_.calls.size(); ++i)
      place_of[out_.calls[i].event] = i;
    for (GpuWork& work : out_.works) {
      const EventIndex call = tree_.parent(work.event);
      if (call != trace::kNoEvent) work.call = place_of[call];
    }
    // Streams by track, numbered in that order.
    std::vector<std::uint32_t> stream(events_.tracks.size(), kNoPlace);
    for (const GpuWork& work : out_.works)
      stream[work.stream] = 0;
    std::uint32_t streams = 0;
    for (std::uint32_t& number : stream) {
      if (number != kNoPlace) number = streams++;
    }
    for (GpuWork& work : out_.works)
      work.stream = stream[work.stream];
    out_.streams.resize(streams);
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  RecordedWork out_;
  std::vector<bool> launches_;                       // by event: a call with GPU work
  std::vector<std::optional<CallTraits>> known_;     // by name
  std::vector<std::optional<GpuWork>> known_works_;  // by name
};

std::uint32_t PlaceOf(const std::vector<EventPlace>& places, EventIndex event) {
  const auto found =
      std::lower_bound(places.begin(), places.end(), event,
                       [](const EventPlace& place, EventIndex e) { return place.event < e; });
  return found == places.end() || found->event != event ? kNoPlace : found->place;
}

template <typename Things>
std::vector<EventPlace> PlacesOf(const Things& things) {
  std::vector<EventPlace> places;
  places.reserve(things.size());
  for (std::uint32_t i = 0; i < things.size(); ++i)
    places.push_back({things[i].event, i});
  std::sort(places.begin(), places.end(),
            [](const EventPlace& a, const EventPlace& b) { return a.event < b.event; });
  return places;
}

}  // namespace

std::uint32_t RecordedWork::CallAt(EventIndex event) const {
  return PlaceOf(call_places, event);
}
std::uint32_t RecordedWork::WorkAt(EventIndex event) const {
  return PlaceOf(work_places, event);
}

bool RecordedWork::IsFirstOfCall(std::uint32_t work) const {
  const std::uint32_t call = works[work].call;
  return call == kNoPlace || works_of_calls[calls[call].first_work] == work;
}

RecordedWork CollectRecordedWork(const trace::EventStore& events, const tree::CallTree& tree) {
  return Collector(events, tree).Run();
}

std::uint32_t LaunchBeforeRead(const RecordedWork& recorded, const GpuWork& work) {
  constexpr double kReadRate = 10e3;  // bytes per microsecond, of one core from memory
  if (!work.to_host || work.call == kNoPlace || work.bytes <= 0) return kNoPlace;
  const HostCall& copy = recorded.calls[work.call];
  const std::uint32_t last = copy.then_sync == kNoPlace ? work.call : copy.then_sync;
  const double returned = recorded.calls[last].end;
  const HostThread& thread = recorded.threads[copy.thread];
  const auto then =
      std::lower_bound(thread.in_calls.begin(), thread.in_calls.end(), returned,
                       [](const Interval<double>& call, double at) { return call.start < at; });
  if (then == thread.in_calls.end() || then->start - returned >= work.bytes / kReadRate)
    return kNoPlace;
  const auto next = std::find_if(std::upper_bound(thread.calls.begin(), thread.calls.end(), last),
                                 thread.calls.end(),
                                 [&](std::uint32_t c) { return recorded.calls[c].works > 0; });
  return next == thread.calls.end() ? kNoPlace : *next;
}

void OrderWorks(RecordedWork* recorded) {
  auto& works = recorded->works;
  const auto launch = [&](const GpuWork& work) {
    return work.call == kNoPlace ? -1.0 : recorded->calls[work.call].begin;
  };
  RunSort(works, [&](const GpuWork& a, const GpuWork& b) {
    return std::tuple(a.start, launch(a), a.end, a.event) <
           std::tuple(b.start, launch(b), b.end, b.event);
  });
  for (auto& stream : recorded->streams)
    stream.clear();
  for (HostCall& call : recorded->calls)
    call.works = 0;
  for (std::uint32_t w = 0; w < works.size(); ++w) {
    auto& stream = recorded->streams[works[w].stream];
    works[w].previous = stream.empty() ? kNoPlace : stream.back();
    stream.push_back(w);
    if (works[w].call != kNoPlace) ++recorded->calls[works[w].call].works;
  }
  std::uint32_t first = 0;
  for (HostCall& call : recorded->calls) {
    call.first_work = first;
    first += std::exchange(call.works, 0);
  }
  recorded->works_of_calls.assign(first, kNoPlace);
  for (std::uint32_t w = 0; w < works.size(); ++w) {
    if (works[w].call == kNoPlace) continue;
    HostCall& call = recorded->calls[works[w].call];
    recorded->works_of_calls[call.first_work + call.works++] = w;
  }
  recorded->call_places = PlacesOf(recorded->calls);
  recorded->work_places = PlacesOf(works);
}

}  // namespace jarvis::analysis
