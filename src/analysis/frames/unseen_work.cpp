#include "analysis/frames/unseen_work.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "analysis/host/copy_direction.h"
#include "analysis/host/runtime_calls.h"

namespace jarvis::analysis {
namespace {

// Shorter than this, a start may be late for many reasons: queues that wake up, submission in
// parts, clocks.
constexpr std::int64_t kBlockedLeastNs = 250'000;  // the host waits, or nothing ran before
constexpr std::int64_t kQueuedLeastNs = 1'000'000;
// From a launch to a start on an idle GPU, about.
constexpr std::int64_t kLaunchNs = 20'000;
// Clocks of host and GPU agree about this well.
constexpr std::int64_t kClockSlackNs = 5'000;

class UnseenFinder {
 public:
  explicit UnseenFinder(const FrameFacts& facts) : facts_(facts) {}

  UnseenWork Run() {
    FindForeign();
    FindGaps();
    FindWaitsAtStart();
    TimeSet all;
    for (const Unrecorded& one : out_.stretches)
      all.push_back(one.span);
    out_.unrecorded = Subtract(Union(std::move(all)), facts_.busy);
    return std::move(out_);
  }

 private:
  const trace::Event& At(EventIndex e) const { return facts_.events[e]; }

  // A device and a stream; streams without a number are told by their track.
  std::uint64_t StreamOf(EventIndex e) const { return At(e).track; }

  void FindForeign() {
    if (facts_.launched.empty()) {
      if (!facts_.gpu.empty())
        out_.foreign_unknown = "no launch is recorded, so work of earlier steps cannot be told";
      return;
    }
    std::map<std::uint64_t, std::int64_t> first;  // by stream: start of the first with a launch
    std::int64_t earliest = facts_.recording.end;
    for (const LaunchedWork& work : facts_.gpu) {
      if (work.launch == trace::kNoEvent) continue;
      const std::int64_t at = At(work.event).ts_ns;
      first.try_emplace(StreamOf(work.event), at);
      earliest = std::min(earliest, at);
    }
    std::vector<EventIndex> leading;
    std::int64_t end = earliest;  // of foreign work on streams that show it
    std::uint64_t later = 0;
    std::vector<EventIndex> alone;  // on streams without any launch
    for (const LaunchedWork& work : facts_.gpu) {
      if (work.launch != trace::kNoEvent) continue;
      const auto known = first.find(StreamOf(work.event));
      if (known == first.end()) {
        alone.push_back(work.event);
      } else if (At(work.event).ts_ns < known->second) {
        leading.push_back(work.event);
        end = std::max(end, At(work.event).end_ns());
      } else {
        ++later;
      }
    }
    for (const EventIndex e : alone) {
      if (At(e).ts_ns <= end) {
        leading.push_back(e);
      } else {
        ++later;
      }
    }
    if (later > leading.size()) {
      out_.foreign_unknown =
          "launches are missing all over the trace, so work of earlier steps cannot be told from "
          "work whose launch was lost";
      return;
    }
    std::stable_sort(leading.begin(), leading.end(),
                     [&](EventIndex a, EventIndex b) { return At(a).ts_ns < At(b).ts_ns; });
    TimeSet busy;
    for (const EventIndex e : leading)
      busy.push_back({At(e).ts_ns, At(e).end_ns()});
    out_.foreign_busy = Union(std::move(busy));
    out_.foreign = std::move(leading);
  }

  // The waiting call that was under way at `at`, or kNoEvent.
  EventIndex WaitingAt(std::int64_t at) const {
    const auto& calls = facts_.waiting_calls;
    auto after = std::upper_bound(calls.begin(), calls.end(), at,
                                  [&](std::int64_t t, EventIndex e) { return t < At(e).ts_ns; });
    // Calls of a few threads may overlap; more than these do not wait at once.
    for (int looked = 0; looked < 8 && after != calls.begin(); ++looked) {
      --after;
      if (At(*after).end_ns() >= at) return *after;
    }
    return trace::kNoEvent;
  }

  // When the work could have started, or kAbsent if that cannot be told.
  std::int64_t ReadyAt(const LaunchedWork& work) const {
    if (work.launch == trace::kNoEvent) return trace::kAbsent;
    const trace::Event& launch = At(work.launch);
    if (!trace::IsLaunchCall(launch.kind)) return trace::kAbsent;
    if (launch.end_ns() < At(work.event).ts_ns) return launch.end_ns();
    // A call that copies and waits: ready as soon as it began, unless the host had to bring the
    // data along first.
    if (At(work.event).kind != trace::EventKind::kMemcpy) return trace::kAbsent;
    const bool waits = launch.end_ns() + kClockSlackNs >= At(work.event).end_ns();
    return waits && DirectionOf(facts_.events.name(work.event)) != CopyDirection::kToDevice
               ? launch.ts_ns
               : trace::kAbsent;
  }

  // Before every piece of GPU work that ended an idle stretch.
  void FindGaps() {
    std::int64_t end = facts_.recording.start;
    bool first = true;
    std::unordered_set<StringId> seen;
    for (const LaunchedWork& work : facts_.gpu) {
      const std::int64_t start = At(work.event).ts_ns;
      const bool loads = seen.insert(At(work.event).name).second && !first && IsLongLaunch(work);
      if (start > end && !loads) AddGap({end, start}, work, first);
      end = std::max(end, At(work.event).end_ns());
      first = false;
    }
  }

  // The first launch of a kernel that takes as long loads its code: the GPU then starts late
  // because the code has to arrive, not because of work that nobody recorded.
  bool IsLongLaunch(const LaunchedWork& work) const {
    return work.launch != trace::kNoEvent && At(work.launch).dur_ns >= kQueuedLeastNs;
  }

  void AddGap(TimeSpan gap, const LaunchedWork& next, bool first) {
    const std::int64_t ready = ReadyAt(next);
    if (ready == trace::kAbsent) return;
    const std::int64_t from = std::max(gap.start, ready + kLaunchNs);
    const std::int64_t length = gap.end - from;
    if (length < kBlockedLeastNs) return;
    const EventIndex blocked = WaitingAt(from + length / 2);
    if (blocked == trace::kNoEvent && !first && length < kQueuedLeastNs) return;
    out_.stretches.push_back({{from, gap.end}, next.event, blocked});
  }

  // A host that waits before it has launched anything waits for what others launched.
  void FindWaitsAtStart() {
    if (facts_.launched.empty()) return;
    const std::int64_t first_launch = facts_.launched.front().launch_ns;
    TimeSet waits;
    for (const EventIndex call : facts_.waiting_calls) {
      const trace::Event& event = At(call);
      if (event.ts_ns >= first_launch) break;
      if (!IsMemoryCall(facts_.events.name(call))) waits.push_back({event.ts_ns, event.end_ns()});
    }
    for (const TimeSpan& free : Subtract(Union(std::move(waits)), facts_.busy)) {
      if (free.end - free.start < kBlockedLeastNs) continue;
      out_.stretches.push_back({free, trace::kNoEvent, WaitingAt(free.start)});
    }
    std::stable_sort(
        out_.stretches.begin(), out_.stretches.end(),
        [](const Unrecorded& a, const Unrecorded& b) { return a.span.start < b.span.start; });
  }

  const FrameFacts& facts_;
  UnseenWork out_;
};

}  // namespace

UnseenWork FindUnseenWork(const FrameFacts& facts) {
  return UnseenFinder(facts).Run();
}

}  // namespace jarvis::analysis
