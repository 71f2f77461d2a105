#include "findings/one/late_gaps.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::findings {
namespace {

constexpr double kMostOfIdle = 0.9;
constexpr double kBusyAhead = 0.85;   // of the base: launches cannot be late as a rule
constexpr double kThreadShare = 0.1;  // of launches: a thread with fewer is no part of a step

double MsFrom(std::int64_t base_ns, std::int64_t at_ns) {
  return static_cast<double>(at_ns - base_ns) / 1e6;
}

// The shortest stretch from the begin of a gap to the end of one that holds most of their time.
Interval<std::int64_t> DensestStretch(const IntervalSet<std::int64_t>& gaps) {
  const double enough = kMostOfIdle * static_cast<double>(Length(gaps));
  Interval<std::int64_t> best{gaps.front().start, gaps.back().end};
  double held = 0;
  std::size_t first = 0;
  for (const Interval<std::int64_t>& last : gaps) {
    held += static_cast<double>(last.end - last.start);
    while (held - static_cast<double>(gaps[first].end - gaps[first].start) >= enough) {
      held -= static_cast<double>(gaps[first].end - gaps[first].start);
      ++first;
    }
    if (held >= enough && last.end - gaps[first].start < best.end - best.start)
      best = {gaps[first].start, last.end};
  }
  return best;
}

// Names of the GPU work that ends last before a gap and of that which begins first after it.
void NameNeighbours(const session::LoadedTrace& trace, const Interval<std::int64_t>& gap,
                    HostCause* cause) {
  const trace::EventStore& events = trace.events();
  trace::EventIndex before = trace::kNoEvent, after = trace::kNoEvent;
  for (const trace::EventIndex e : trace.attribution().timeline) {
    const trace::Event& event = events[e];
    if (event.end_ns() <= gap.start &&
        (before == trace::kNoEvent || event.end_ns() > events[before].end_ns()))
      before = e;
    if (event.ts_ns >= gap.end && (after == trace::kNoEvent || event.ts_ns < events[after].ts_ns))
      after = e;
  }
  if (before != trace::kNoEvent) cause->before = events.name(before);
  if (after != trace::kNoEvent) cause->after = events.name(after);
}

// When the second of two threads begins to launch, the first one's launches done; 0: none does.
std::int64_t SecondThreadNs(const session::LoadedTrace& trace) {
  struct Launches {
    std::int64_t first_ns = 0, last_ns = 0;
    std::size_t count = 0;
  };
  std::map<std::uint32_t, Launches> threads;
  const trace::EventStore& events = trace.events();
  std::size_t all = 0;
  for (const trace::EventIndex e : trace.attribution().timeline) {
    const trace::EventIndex call = trace.tree().parent(e);
    if (call == trace::kNoEvent || !trace::IsLaunchCall(events[call].kind)) continue;
    Launches& own = threads[events[call].track];
    const std::int64_t at = events[call].ts_ns;
    if (own.count == 0 || at < own.first_ns) own.first_ns = at;
    if (own.count == 0 || at > own.last_ns) own.last_ns = at;
    ++own.count;
    ++all;
  }
  std::vector<Launches> large;
  for (const auto& [track, own] : threads) {
    if (static_cast<double>(own.count) >= kThreadShare * static_cast<double>(all))
      large.push_back(own);
  }
  if (large.size() != 2) return 0;
  if (large[1].first_ns < large[0].first_ns) std::swap(large[0], large[1]);
  return large[1].first_ns >= large[0].last_ns ? large[1].first_ns : 0;
}

}  // namespace

bool IsHostAhead(const session::TraceFrames& frames, const HostCause& cause) {
  const analysis::Balance& balance = frames.frames.steady;
  const auto busy = static_cast<double>(balance.busy_ns());
  if (cause.launch_us > 0 && cause.launch_us < cause.kernel_us) return true;
  // Nearly all launches find work before them.
  constexpr double kFewIdle = 10;
  if (cause.idle_percent < kFewIdle) return true;
  // A part of the step that launches too slowly is a cause, however busy the rest is.
  const bool slow_part =
      std::any_of(cause.places.begin(), cause.places.end(),
                  [](const HostPlace& place) { return place.launch_us > place.kernel_us; });
  return !slow_part && busy > kBusyAhead * static_cast<double>(balance.own_ns());
}

void LocateGaps(const session::LoadedTrace& trace, const session::TraceFrames& frames,
                IntervalSet<std::int64_t> gaps, bool training, HostCause* cause) {
  // What the host takes before there is any work is no gap.
  const auto& window = frames.frames.window;
  std::erase_if(gaps, [&](const auto& gap) { return window && gap.start < window->start; });
  if (gaps.empty() || frames.frames.steps.size() > 1) return;
  const std::int64_t begin = frames.frames.frame.start;
  const Interval<std::int64_t> most = DensestStretch(gaps);
  cause->gaps_from_ms = MsFrom(begin, most.start);
  cause->gaps_to_ms = MsFrom(begin, most.end);
  NameNeighbours(trace,
                 *std::max_element(gaps.begin(), gaps.end(),
                                   [](const auto& a, const auto& b) {
                                     return a.end - a.start < b.end - b.start;
                                   }),
                 cause);
  const std::int64_t second = training ? SecondThreadNs(trace) : 0;
  if (second != 0) cause->backward_ms = MsFrom(begin, second);
}

}  // namespace jarvis::findings
