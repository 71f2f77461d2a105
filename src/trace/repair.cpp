#include "trace/repair.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/run_sort.h"

namespace jarvis::trace {
namespace {

// No capture starts within 1000 s of its clock's origin and still has events at exactly 0 beside.
constexpr std::int64_t kFarFromZeroNs = 1'000'000'000'000;

// Clocks of microsecond resolution make neighbours on a stream seem to overlap by less than this.
constexpr std::int64_t kClockNoiseNs = 1000;

void LeaveOut(EventStore& store, Event& event, Oddity oddity) {
  event.flags |= kLeftOut;
  store.oddities.Count(oddity, event.uid);
}

void LeaveOutZeroTimes(EventStore& store) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t earliest = kNone;
  bool zeros = false;
  for (const Event& event : store.events) {
    if (event.ts_ns == 0) {
      zeros = true;
    } else {
      earliest = std::min(earliest, event.ts_ns);
    }
  }
  if (!zeros || earliest == kNone || !ZeroIsNoTime(earliest)) return;
  for (Event& event : store.events) {
    if (event.ts_ns == 0) LeaveOut(store, event, Oddity::kZeroTimestamp);
  }
}

// A recording shorter than this has no event that is far from the others.
constexpr std::int64_t kFarNs = 1'000'000'000'000;
// Nothing waits for so many times as long as all else takes.
constexpr std::int64_t kFarTimes = 100;
// Not more than one event of so many is where no other is.
constexpr std::size_t kFew = 20;

// The few events before a gap, or after it, that is longer than all else together by far: the first
// ones of a GPU whose clock was not set yet, one event of another clock. A program that waits has
// work on both sides of its wait.
void LeaveOutFarTimes(EventStore& store) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const Event& event : store.events) {
    if ((event.flags & kLeftOut) != 0) continue;
    first = std::min(first, event.ts_ns);
    last = std::max(last, event.end_ns());
  }
  if (last <= first || last - first < kFarNs) return;
  std::vector<EventIndex> order;
  for (EventIndex e = 0; e < store.size(); ++e) {
    if ((store[e].flags & kLeftOut) == 0) order.push_back(e);
  }
  RunSort(order, [&](EventIndex a, EventIndex b) { return store[a].ts_ns < store[b].ts_ns; });
  // Stretches without a gap that is long enough, as places in `order`.
  struct Stretch {
    std::size_t begin, end;
    std::int64_t from_ns, to_ns;
  };
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Event& event = store[order[i]];
    if (stretches.empty() || event.ts_ns - stretches.back().to_ns >= kFarNs)
      stretches.push_back({i, i, event.ts_ns, event.end_ns()});
    stretches.back().end = i + 1;
    stretches.back().to_ns = std::max(stretches.back().to_ns, event.end_ns());
  }
  const auto main = std::max_element(
      stretches.begin(), stretches.end(),
      [](const Stretch& a, const Stretch& b) { return a.end - a.begin < b.end - b.begin; });
  const std::int64_t length = main->to_ns - main->from_ns;
  for (auto one = stretches.begin(); one != stretches.end(); ++one) {
    if (one == main || (one->end - one->begin) * kFew > main->end - main->begin) continue;
    const std::int64_t gap = one < main ? main->from_ns - one->to_ns : one->from_ns - main->to_ns;
    if (gap / kFarTimes < length) continue;
    for (std::size_t i = one->begin; i < one->end; ++i)
      LeaveOut(store, store.events[order[i]], Oddity::kFarTimestamp);
  }
}

// What makes two GPU events of one track the same piece of work.
auto WorkKey(const EventStore& store, EventIndex e) {
  const Event& event = store[e];
  return std::tuple(event.dur_ns, event.name, event.kind, store.args_of(e).correlation);
}

// `stream`: GPU events of one track in order of start; events with one start change places.
void LeaveOutDuplicates(EventStore& store, std::vector<EventIndex>& stream) {
  for (std::size_t first = 0, end = 0; first < stream.size(); first = end) {
    for (end = first; end < stream.size() && store[stream[end]].ts_ns == store[stream[first]].ts_ns;
         ++end) {
    }
    if (end == first + 1) continue;
    const auto at = [&](std::size_t i) { return stream.begin() + static_cast<std::ptrdiff_t>(i); };
    std::sort(at(first), at(end), [&](EventIndex a, EventIndex b) {
      return std::pair(WorkKey(store, a), store[a].uid) <
             std::pair(WorkKey(store, b), store[b].uid);
    });
    for (std::size_t i = first + 1; i < end; ++i) {
      if (WorkKey(store, stream[i]) == WorkKey(store, stream[i - 1])) {
        LeaveOut(store, store.events[stream[i]], Oddity::kDuplicate);
      }
    }
  }
}

void ClipOverruns(EventStore& store, const std::vector<EventIndex>& stream) {
  const Event* later = nullptr;
  for (std::size_t i = stream.size(); i-- > 0;) {
    Event& event = store.events[stream[i]];
    if ((event.flags & kLeftOut) != 0) continue;
    if (later != nullptr && later->dur_ns > 0 && event.ts_ns < later->ts_ns &&
        event.end_ns() > later->end_ns() + kClockNoiseNs) {
      store.oddities.Count(Oddity::kOverlapOnStream, event.uid);
      store.clipped_from[event.uid] = event.dur_ns;
      event.flags |= kClipped;
      event.dur_ns = later->ts_ns - event.ts_ns;
    }
    later = &event;
  }
}

// Tracks that hold the streams of several GPUs: ranks that a tool merged into one file, each of
// which calls its device by the same number. Calls of several processes have the ids of their work,
// and a good part of it has an id twice. What overlaps there ran on two GPUs.
class SharedTracks {
 public:
  explicit SharedTracks(const EventStore& store) : store_(store) {
    std::unordered_map<std::string_view, std::uint32_t> pids;
    for (const Track& track : store.tracks)
      pid_of_.push_back(
          pids.try_emplace(track.pid, static_cast<std::uint32_t>(pids.size())).first->second);
    std::optional<std::uint32_t> first;
    for (const Event& event : store.events) {
      if (!IsLaunchCall(event.kind)) continue;
      if (!first) first = pid_of_[event.track];
      several_ = several_ || pid_of_[event.track] != *first;
      if (several_) break;
    }
    if (several_) FindSharedIds();
  }

  bool IsShared(const std::vector<EventIndex>& stream) const {
    constexpr std::size_t kTwicePart = 20;  // of the work
    if (!several_) return false;
    std::unordered_set<std::int64_t> seen;
    std::size_t twice = 0;
    for (const EventIndex e : stream) {
      const std::int64_t id = store_.args_of(e).correlation;
      if (shared_.contains(id) && !seen.insert(id).second) ++twice;
    }
    return twice * kTwicePart > stream.size();
  }

 private:
  void FindSharedIds() {
    std::unordered_map<std::int64_t, std::uint32_t> pid_of_id;
    for (EventIndex e = 0; e < store_.size(); ++e) {
      const Event& event = store_[e];
      const std::int64_t id = store_.args_of(e).correlation;
      if (!IsLaunchCall(event.kind) || id == kAbsent) continue;
      const auto [found, added] = pid_of_id.try_emplace(id, pid_of_[event.track]);
      // The kernels of a replayed graph share an id by right.
      const bool graph = store_.name(e).find("Graph") != std::string_view::npos;
      if (!added && found->second != pid_of_[event.track] && !graph) shared_.insert(id);
    }
  }

  const EventStore& store_;
  std::vector<std::uint32_t> pid_of_;  // by track
  bool several_ = false;               // processes that call
  std::unordered_set<std::int64_t> shared_;
};

}  // namespace

bool ZeroIsNoTime(std::int64_t earliest_other_ns) {
  return earliest_other_ns >= kFarFromZeroNs;
}

void Repair(EventStore* store) {
  LeaveOutZeroTimes(*store);
  LeaveOutFarTimes(*store);
  std::vector<std::vector<EventIndex>> streams(store->tracks.size());
  for (EventIndex e = 0; e < store->size(); ++e) {
    if (IsGpuWork((*store)[e].kind)) streams[(*store)[e].track].push_back(e);
  }
  const SharedTracks shared(*store);
  for (std::vector<EventIndex>& stream : streams) {
    if (shared.IsShared(stream)) continue;
    RunSort(stream,
            [&](EventIndex a, EventIndex b) { return (*store)[a].ts_ns < (*store)[b].ts_ns; });
    LeaveOutDuplicates(*store, stream);
    ClipOverruns(*store, stream);
  }
}

}  // namespace jarvis::trace
