#include <algorithm>
#include <iterator>
#include <utility>

#include "base/median.h"
#include "ledger/books/books.h"

namespace jarvis::ledger {
namespace {

constexpr std::size_t kThreadsMost = 3;
// Between two ops that are no further apart than that many usual spacings of launches, the host is
// at work; where spacings are too few to tell, no further than that.
constexpr std::int64_t kBetweenSpacings = 8;
constexpr std::size_t kSpacingsLeast = 20;
constexpr std::int64_t kBetweenNs = 200'000;
constexpr std::int64_t kWaitingCopyNs = 30'000;  // and the GPU busy in a third of it
constexpr double kCopyBusy = 0.3;
constexpr std::int64_t kBlockedCopyNs = 1'000'000;  // and its own copy ends just before it
constexpr std::int64_t kCopyReturnsNs = 500'000;
constexpr std::int64_t kClockSlackNs = 10'000;
constexpr std::int64_t kWaitingMemoryNs = 50'000;
constexpr double kMemoryBusy = 0.5;
constexpr std::int64_t kFullQueueNs = 200'000;
constexpr double kQueueBusy = 0.9;
constexpr std::int64_t kSpinNs = 1'000'000;
constexpr double kSpinBusy = 0.95;
constexpr std::int64_t kSpinEndsNs = 120'000;  // after the end of some GPU work

class HostBookKeeper {
 public:
  HostBookKeeper(const analysis::BaseOfTime& base, const HostTimeline& host)
      : host_(host), facts_(host.facts()), busy_(facts_.busy), in_base_(base.host_base) {
    FindSpacing();
    for (const analysis::LaunchedWork& work : facts_.gpu)
      ends_.push_back(facts_.events[work.event].end_ns());
    std::sort(ends_.begin(), ends_.end());
  }

  HostBook Run() {
    HostBook out;
    std::vector<std::uint32_t> threads = host_.launching();
    if (threads.empty() && facts_.host_events()) threads = {facts_.track};
    threads.resize(std::min(threads.size(), kThreadsMost));
    for (const std::uint32_t track : threads)
      out.threads.push_back(BookOf(track));
    TimeSet own;
    for (const TimeSpan& piece : Union(std::move(own_)))
      out.alone_ns += in_base_.In(piece);
    return out;
  }

 private:
  void FindSpacing() {
    std::vector<std::pair<std::uint32_t, std::int64_t>> starts;
    for (const EventIndex call : facts_.calls) {
      const CallRole role = host_.RoleOf(call);
      if (role == CallRole::kLaunch || role == CallRole::kGraphLaunch)
        starts.emplace_back(facts_.events[call].track, facts_.events[call].ts_ns);
    }
    std::stable_sort(starts.begin(), starts.end());
    std::vector<std::int64_t> spacings;
    for (std::size_t i = 1; i < starts.size(); ++i) {
      if (starts[i].first == starts[i - 1].first)
        spacings.push_back(starts[i].second - starts[i - 1].second);
    }
    if (spacings.size() > kSpacingsLeast)
      between_ns_ = kBetweenSpacings * LowerMedian(std::move(spacings));
  }

  HostThreadBook BookOf(std::uint32_t track) {
    HostThreadBook book;
    book.track = track;
    book.launches = host_.LaunchesOf(track);
    for (const HostSegment& segment : host_.Of(track)) {
      const std::int64_t ns = in_base_.In(segment.span);
      if (ns <= 0) continue;
      const HostLine line = LineOf(segment, track);
      book.ns[static_cast<std::size_t>(line)] += ns;
      if (IsOwn(line)) AddInterval(segment.span, &own_);
    }
    return book;
  }

  bool Busy(const HostSegment& segment, double share) const {
    const auto length = static_cast<double>(segment.span.end - segment.span.start);
    return static_cast<double>(busy_.In(segment.span)) > share * length;
  }

  // The call returns when its own copy is done.
  bool IsBlocked(EventIndex call) const {
    std::int64_t end = trace::kAbsent;
    for (const EventIndex copy : facts_.tree.GpuOf(call))
      end = std::max(end, facts_.events[copy].end_ns());
    if (end == trace::kAbsent) return false;
    const std::int64_t after = facts_.events[call].end_ns() - end;
    return after >= -kClockSlackNs && after < kCopyReturnsNs;
  }

  HostLine LineOf(const HostSegment& segment, std::uint32_t track) const {
    const EventIndex e = segment.innermost;
    const std::int64_t length = segment.span.end - segment.span.start;
    const bool scope =
        e != trace::kNoEvent && facts_.events[e].kind == trace::EventKind::kUserAnnotation;
    if (e == trace::kNoEvent || scope) {
      if (length < between_ns_ && !host_.InWorkersLoader(track, segment.span.start))
        return HostLine::kOwnBetweenOps;
      if (e == trace::kNoEvent) return HostLine::kNothing;
    }
    if (trace::IsLaunchCall(facts_.events[e].kind)) return LineOfCall(segment);
    if (host_.InWorkersLoader(track, segment.span.start)) return HostLine::kWaitInput;
    if (segment.stalled) return HostLine::kNotScheduled;
    if (scope) {
      return host_.InLoader(track, segment.span.start) ? HostLine::kOwnInput
                                                       : HostLine::kAnnotationOnly;
    }
    const bool python = facts_.events[e].kind == trace::EventKind::kPythonFunction;
    if (!python && length > kSpinNs && Busy(segment, kSpinBusy) && EndsWithResult(segment))
      return HostLine::kSpin;
    return python ? HostLine::kOwnPython : HostLine::kOwnOps;
  }

  HostLine LineOfCall(const HostSegment& segment) const {
    const EventIndex call = segment.innermost;
    const std::int64_t length = segment.span.end - segment.span.start;
    switch (host_.RoleOf(call)) {
      case CallRole::kWait: return HostLine::kWaitExplicit;
      case CallRole::kCopy:
        if ((length > kWaitingCopyNs && Busy(segment, kCopyBusy)) ||
            (length > kBlockedCopyNs && IsBlocked(call))) {
          return HostLine::kWaitCopy;
        }
        break;
      case CallRole::kMemory:
        if (host_.IsFirstCall(segment.span.start)) return HostLine::kOneTime;
        return length > kWaitingMemoryNs && Busy(segment, kMemoryBusy) ? HostLine::kWaitAllocator
                                                                       : HostLine::kOwnAllocator;
      case CallRole::kLaunch:
      case CallRole::kGraphLaunch:
        if (length > kFullQueueNs && Busy(segment, kQueueBusy)) return HostLine::kWaitQueue;
        break;
      case CallRole::kOther: break;
    }
    if (host_.IsFirstCall(segment.span.start)) return HostLine::kOneTime;
    return segment.stalled ? HostLine::kNotScheduled : HostLine::kOwnCalls;
  }

  bool EndsWithResult(const HostSegment& segment) const {
    const auto after = std::upper_bound(ends_.begin(), ends_.end(), segment.span.end);
    return after != ends_.begin() && segment.span.end - *std::prev(after) < kSpinEndsNs;
  }

  const HostTimeline& host_;
  const analysis::FrameFacts& facts_;
  TimeMeter busy_;
  TimeMeter in_base_;
  std::int64_t between_ns_ = kBetweenNs;
  std::vector<std::int64_t> ends_;  // of GPU work, sorted
  TimeSet own_;
};

}  // namespace

bool IsOwn(HostLine line) {
  return line <= HostLine::kOwnInput;
}

bool IsWait(HostLine line) {
  return line >= HostLine::kWaitExplicit && line <= HostLine::kSpin;
}

std::string_view HostLineText(HostLine line) {
  switch (line) {
    case HostLine::kOwnOps: return "own: ops";
    case HostLine::kOwnCalls: return "own: runtime calls";
    case HostLine::kOwnPython: return "own: Python";
    case HostLine::kOwnBetweenOps: return "own: between ops";
    case HostLine::kOwnAllocator: return "own: driver allocator";
    case HostLine::kOwnInput: return "own: input";
    case HostLine::kWaitExplicit: return "wait: explicit";
    case HostLine::kWaitCopy: return "wait: blocking copy";
    case HostLine::kWaitAllocator: return "wait: allocator / free";
    case HostLine::kWaitQueue: return "wait: launch queue full";
    case HostLine::kWaitInput: return "wait: input (other process)";
    case HostLine::kSpin: return "wait: spin [candidate]";
    case HostLine::kOneTime: return "one-time";
    case HostLine::kNotScheduled: return "not scheduled or blocked";
    case HostLine::kAnnotationOnly: return "outside ops, in an annotation";
    case HostLine::kNothing: break;
  }
  return "outside recorded events";
}

HostBook KeepHostBook(const analysis::BaseOfTime& base, const HostTimeline& host) {
  return HostBookKeeper(base, host).Run();
}

}  // namespace jarvis::ledger
