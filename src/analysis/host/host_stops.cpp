#include "analysis/host/host_stops.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "analysis/host/host_names.h"
#include "analysis/host/silent_places.h"
#include "base/median.h"
#include "trace/by_name.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

constexpr std::int64_t kStopLeastNs = 100'000;
constexpr std::int64_t kStopTimes = 20;   // a stop is that many times the usual stretch of a place
constexpr std::size_t kVisitsMin = 4;     // of a place, to know what is usual
constexpr std::size_t kOneStopIn = 4;     // visits at least; more often it is the place
constexpr double kHeld = 0.7;             // of a stop, while another thread is in Python
constexpr std::int64_t kHolderTimes = 3;  // of the stop: a longer function holds nothing
constexpr std::size_t kReleasedMin = 4;   // stops that end with a function of another thread
constexpr double kReleasedOff = 0.05;     // of the stop, between the two ends
constexpr double kAsLong = 1.25;          // so many times the longest of others, or less
constexpr std::int64_t kMarkLeastNs = 5'000'000;  // of a stop outside of Python functions
constexpr std::size_t kMarkStopsMin = 3;          // such stops

bool IsBuiltin(std::string_view name) {
  return name.starts_with("<built-in ");
}

class StopFinder {
 public:
  StopFinder(const trace::EventStore& events, const tree::CallTree& tree)
      : events_(events), tree_(tree), builtin_(events, IsBuiltin), names_(events) {}

  std::vector<HostStop> Run() {
    for (const auto& thread : ThreadsOf(events_, tree_)) {
      if (Launches(thread)) {
        launching_.push_back(thread);
      } else {
        others_.push_back(thread);
      }
    }
    std::vector<bool> asked(events_.strings.size(), false);
    bool any = false;
    Walk([&](const HostStop& stretch, const SilentPlace& place) {
      if (stretch.ns() >= LeastOf(stretch)) any = asked[place.owner] = true;
    });
    if (!any) return {};
    struct Visits {
      std::vector<std::int64_t> lengths;
      std::vector<HostStop> candidates;
    };
    std::map<SilentPlace, Visits> places;
    Walk([&](const HostStop& stretch, const SilentPlace& place) {
      if (!asked[place.owner]) return;
      Visits& visits = places[place];
      visits.lengths.push_back(stretch.ns());
      if (stretch.ns() >= LeastOf(stretch)) visits.candidates.push_back(stretch);
    });
    CollectHolders();
    std::vector<HostStop> stops, released, in_marks, rare;
    for (auto& [place, visits] : places) {
      if (visits.candidates.empty()) continue;
      const std::size_t count = visits.lengths.size();
      const std::int64_t least =
          std::max(LeastOf(visits.candidates.front()), kStopTimes * LowerMedian(visits.lengths));
      const auto long_ones = static_cast<std::size_t>(std::ranges::count_if(
          visits.candidates, [&](const HostStop& stop) { return stop.ns() >= least; }));
      const bool seldom = count >= kVisitsMin && kOneStopIn * long_ones <= count;
      if (!IsPython(visits.candidates.front())) {
        if (!seldom || IsEveryNth(visits.lengths, least)) continue;
        std::ranges::copy_if(visits.candidates, std::back_inserter(in_marks),
                             [&](const HostStop& stop) { return stop.ns() >= least; });
        continue;
      }
      for (HostStop& stop : visits.candidates) {
        stop.holder = HolderOf(stop);
        if (stop.ns() >= least) {
          if (seldom || stop.holder != kNoEvent) stops.push_back(stop);
        } else if (EndsWithHolder(stop)) {
          released.push_back(stop);
        } else if (count < kVisitsMin && stop.holder == kNoEvent) {
          rare.push_back(stop);
        }
      }
    }
    // Places that are reached once or twice have no usual length. That a thread goes on when
    // another one's function ends may be chance once, too.
    if (released.size() >= kReleasedMin)
      stops.insert(stops.end(), released.begin(), released.end());
    if (in_marks.size() >= kMarkStopsMin)
      stops.insert(stops.end(), in_marks.begin(), in_marks.end());
    AddAsLong(std::move(rare), &stops);
    std::sort(stops.begin(), stops.end(), [](const HostStop& a, const HostStop& b) {
      return std::pair(a.begin_ns, a.track) < std::pair(b.begin_ns, b.track);
    });
    return stops;
  }

 private:
  bool IsPython(const HostStop& stretch) const {
    return events_[stretch.owner].kind == EventKind::kPythonFunction;
  }
  std::int64_t LeastOf(const HostStop& stretch) const {
    return IsPython(stretch) ? kStopLeastNs : kMarkLeastNs;
  }

  // What stops the interpreter at one place stops it at others: those about as long as the stops of
  // Python that no other thread explains.
  void AddAsLong(std::vector<HostStop> rare, std::vector<HostStop>* stops) const {
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max(), longest = 0;
    for (const HostStop& stop : *stops) {
      if (stop.holder != kNoEvent || !IsPython(stop)) continue;
      shortest = std::min(shortest, stop.ns());
      longest = std::max(longest, stop.ns());
    }
    for (HostStop& stop : rare) {
      const auto ns = static_cast<double>(stop.ns());
      stop.unsure = ns <= kAsLong * static_cast<double>(longest) &&
                    ns * kAsLong >= static_cast<double>(shortest);
      if (stop.unsure) stops->push_back(stop);
    }
  }

  // Whether the long ones come at every nth visit.
  static bool IsEveryNth(const std::vector<std::int64_t>& lengths, std::int64_t least) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      if (lengths[i] >= least) at.push_back(i);
    for (std::size_t i = 2; i < at.size(); ++i)
      if (at[i] - at[i - 1] != at[1] - at[0]) return false;
    return at.size() > 2;
  }

  bool Launches(std::span<const EventIndex> thread) const {
    return std::any_of(thread.begin(), thread.end(), [&](EventIndex e) {
      return trace::IsLaunchCall(events_[e].kind) && !tree_.GpuOf(e).empty();
    });
  }

  // A mark of the program. A loader's is long when it has to wait.
  bool IsMark(EventIndex e) {
    const bool mark = events_[e].kind == EventKind::kUserAnnotation || names_.Of(e).range;
    return mark && !names_.Of(e).loader;
  }

  // Tells `take` of each silent stretch of Python code, with its place.
  template <typename Take>
  void Walk(const Take& take) {
    const auto fits = [this](EventIndex e, StringId before) {
      if (events_[e].kind != EventKind::kPythonFunction && !IsMark(e)) return false;
      // What a builtin does before it calls something is its work.
      return before != kNoPlaceName || !builtin_.Of(e);
    };
    const auto tell = [&](const SilentPiece& piece, const SilentPlace& place) {
      take(HostStop{piece.owner, kNoEvent, piece.track, piece.begin_ns, piece.end_ns}, place);
    };
    for (const auto& thread : launching_) {
      SilentPlaceWalk walk(events_, fits, tell);
      WalkThread(events_, tree_, thread, &walk);
    }
  }

  // Python functions of other threads, without those that wait, or call one that waits most of
  // their time.
  void CollectHolders() {
    std::unordered_set<EventIndex> waiting;
    for (const auto& thread : others_) {
      for (const EventIndex wait : thread) {
        if (!names_.Of(wait).waiting_frame) continue;
        for (EventIndex e = wait; e != kNoEvent && 2 * events_[wait].dur_ns >= events_[e].dur_ns;
             e = tree_.parent(e))
          waiting.insert(e);
      }
      for (const EventIndex e : thread) {
        if (events_[e].kind == EventKind::kPythonFunction && !waiting.contains(e))
          holders_.push_back(e);
      }
    }
    std::sort(holders_.begin(), holders_.end(), [&](EventIndex a, EventIndex b) {
      return std::pair(events_[a].ts_ns, a) < std::pair(events_[b].ts_ns, b);
    });
  }

  bool EndsWithHolder(const HostStop& stop) const {
    if (stop.holder == kNoEvent) return false;
    const std::int64_t off = std::abs(stop.end_ns - events_[stop.holder].end_ns());
    return static_cast<double>(off) <= kReleasedOff * static_cast<double>(stop.ns());
  }

  // The longest Python function of another thread of the process that covers most of the stop, and
  // little else.
  EventIndex HolderOf(const HostStop& stop) const {
    const std::int64_t longest = kHolderTimes * stop.ns();
    auto at = std::partition_point(holders_.begin(), holders_.end(), [&](EventIndex e) {
      return events_[e].ts_ns < stop.begin_ns - longest;
    });
    EventIndex holder = kNoEvent;
    std::int64_t most = 0;
    IntervalSet<std::int64_t> held;
    for (; at != holders_.end() && events_[*at].ts_ns < stop.end_ns; ++at) {
      const trace::Event& event = events_[*at];
      if (event.dur_ns > longest ||
          events_.tracks[event.track].pid != events_.tracks[stop.track].pid) {
        continue;
      }
      const std::int64_t start = std::max(event.ts_ns, stop.begin_ns);
      const std::int64_t end = std::min(event.end_ns(), stop.end_ns);
      if (end <= start) continue;
      held.push_back({start, end});
      if (end - start > most) {
        most = end - start;
        holder = *at;
      }
    }
    const double covered = static_cast<double>(Length(Union(std::move(held))));
    return covered >= kHeld * static_cast<double>(stop.ns()) ? holder : kNoEvent;
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  trace::ByName<bool> builtin_;
  HostNames names_;
  std::vector<std::span<const EventIndex>> launching_, others_;
  std::vector<EventIndex> holders_;  // by begin
};

}  // namespace

std::vector<HostStop> FindHostStops(const trace::EventStore& events, const tree::CallTree& tree) {
  return StopFinder(events, tree).Run();
}

}  // namespace jarvis::analysis
