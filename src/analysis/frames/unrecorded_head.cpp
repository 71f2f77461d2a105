#include <algorithm>
#include <unordered_map>

#include "analysis/frames/base_of_time.h"
#include "analysis/host/copy_direction.h"
#include "analysis/host/runtime_calls.h"

namespace jarvis::analysis {
namespace {

// A start that is later than this after its call was held up by something.
constexpr std::int64_t kHeldUpNs = 1'000'000;
constexpr double kOthersFill = 0.1;  // of the time that recorded work would explain
constexpr double kNearlyAllWork = 0.9;
constexpr double kHeadShare = 0.02;  // of all GPU events precede what is at the head
constexpr std::size_t kHeadEvents = 3;
// A wait for what is at the head ends soon after it.
constexpr std::int64_t kWaitEndsNs = 300'000;

bool IsExplicitWait(std::string_view name) {
  return name.ends_with("DeviceSynchronize") || name.ends_with("CtxSynchronize") ||
         name.ends_with("StreamSynchronize") || name.ends_with("EventSynchronize");
}

class HeadFinder {
 public:
  HeadFinder(const FrameFacts& facts, std::vector<EventIndex> foreign) : facts_(facts) {
    out_.foreign = std::move(foreign);
    std::sort(out_.foreign.begin(), out_.foreign.end());
    out_.end_ns = facts.recording.start;
  }

  UnrecordedHead Run() {
    if (facts_.launched.empty()) return std::move(out_);
    if (IsNearlyAll()) out_.foreign.clear();
    for (const EventIndex e : out_.foreign)
      Reach(At(e).end_ns());
    FindHeldUp();
    FindFirstWaits();
    FindWaitsForHead();
    return std::move(out_);
  }

 private:
  const trace::Event& At(EventIndex e) const { return facts_.events[e]; }
  // Where the GPU is behind by more than the recording holds, what it does is all that there is to
  // tell of, whoever launched it.
  bool IsNearlyAll() const {
    std::int64_t foreign = 0;
    std::int64_t all = 0;
    for (const EventIndex e : out_.foreign)
      foreign += At(e).dur_ns;
    for (const LaunchedWork& work : facts_.gpu)
      all += At(work.event).dur_ns;
    return static_cast<double>(foreign) > kNearlyAllWork * static_cast<double>(all);
  }
  void Reach(std::int64_t at) {
    out_.end_ns = std::max(out_.end_ns, at);
    out_.any = true;
  }

  // The first linked work of a stream that begins long after its call, while nothing recorded runs.
  void FindHeldUp() {
    const TimeMeter busy(facts_.busy);
    std::unordered_map<std::uint32_t, bool> seen;  // by stream: its first is linked or looked at
    std::vector<std::pair<EventIndex, EventIndex>> firsts;
    for (const LaunchedWork& work : facts_.gpu) {
      const std::uint32_t stream = At(work.event).track;
      const auto [known, added] = seen.try_emplace(stream, false);
      if (added && work.launch == trace::kNoEvent && out_.IsForeign(work.event))
        known->second = true;
      if (known->second || work.launch == trace::kNoEvent) continue;
      known->second = true;
      firsts.emplace_back(work.event, work.launch);
    }
    for (const auto& [event, call] : firsts) {
      const std::int64_t start = At(event).ts_ns;
      const bool copies = RuntimeKindOf(facts_.events.name(call)) == RuntimeKind::kCopy;
      if (copies && IsStaged(event, call)) continue;
      const std::int64_t from = copies ? At(call).ts_ns : std::min(At(call).end_ns(), start);
      const std::int64_t late = start - from;
      if (late <= kHeldUpNs ||
          static_cast<double>(busy.In({from, start})) >= kOthersFill * static_cast<double>(late)) {
        continue;
      }
      const auto before =
          static_cast<std::size_t>(std::partition_point(facts_.gpu.begin(), facts_.gpu.end(),
                                                        [&](const LaunchedWork& work) {
                                                          return At(work.event).ts_ns < from;
                                                        }) -
                                   facts_.gpu.begin());
      const auto most = std::max<std::size_t>(
          kHeadEvents,
          static_cast<std::size_t>(kHeadShare * static_cast<double>(facts_.gpu.size())));
      if (before > most) continue;
      out_.held_up = true;
      Reach(start);
    }
  }

  // An upload that begins within its call: the host brings pageable memory along first, for as long
  // as that takes.
  bool IsStaged(EventIndex copy, EventIndex call) const {
    return DirectionOf(facts_.events.name(copy)) == CopyDirection::kToDevice &&
           At(copy).ts_ns < At(call).end_ns();
  }

  // A wait before any recorded work could be waited for.
  void FindFirstWaits() {
    const std::int64_t first_launch = facts_.launched.front().launch_ns;
    std::vector<std::int64_t> done;  // by place in `launched`: the latest end so far
    for (const LaunchedWork& work : facts_.launched) {
      const std::int64_t end = At(work.event).end_ns();
      done.push_back(done.empty() ? end : std::max(done.back(), end));
    }
    for (const EventIndex call : facts_.calls) {
      const trace::Event& event = At(call);
      if (event.ts_ns > first_launch && event.ts_ns > out_.end_ns) break;
      if (event.dur_ns <= kHeldUpNs || !IsExplicitWait(facts_.events.name(call))) continue;
      const std::size_t before =
          facts_.LaunchedIn({facts_.launched.front().launch_ns, event.ts_ns}).second;
      const bool own = event.ts_ns > first_launch && before > 0 && done[before - 1] > event.ts_ns;
      if (own) continue;
      out_.held_up = true;
      Reach(event.end_ns());
    }
  }

  void FindWaitsForHead() {
    std::int64_t first_own = facts_.recording.end;
    for (const LaunchedWork& work : facts_.gpu) {
      if (out_.IsForeign(work.event)) continue;
      first_own = At(work.event).ts_ns;
      break;
    }
    for (const EventIndex call : facts_.calls) {
      const trace::Event& event = At(call);
      if (event.ts_ns >= out_.end_ns) break;
      const std::int64_t end = event.end_ns();
      if (end < out_.end_ns || end >= out_.end_ns + kWaitEndsNs || end <= event.ts_ns) continue;
      if (IsExplicitWait(facts_.events.name(call)) && first_own >= end) out_.end_ns = end;
    }
  }

  const FrameFacts& facts_;
  UnrecordedHead out_;
};

}  // namespace

bool UnrecordedHead::IsForeign(EventIndex gpu) const {
  return std::binary_search(foreign.begin(), foreign.end(), gpu);
}

UnrecordedHead FindUnrecordedHead(const FrameFacts& facts, std::vector<EventIndex> foreign) {
  return HeadFinder(facts, std::move(foreign)).Run();
}

}  // namespace jarvis::analysis
