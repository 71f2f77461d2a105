#include "analysis/host/host_stretches.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/median.h"

namespace jarvis::analysis {
namespace {

using trace::Event;
using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

// Of a step (of the span without steps); what is shorter is how any program runs.
constexpr std::int64_t kStretchShare = 1000;
constexpr std::int64_t kStretchLeastNs = 100'000;

std::int64_t ThresholdOf(const ThreadTimes& threads) {
  std::vector<std::int64_t> lengths;
  for (const StepThreads& step : threads.steps)
    lengths.push_back(step.window.end - step.window.start);
  if (lengths.empty()) return kStretchLeastNs;
  return std::max(kStretchLeastNs, UpperMedian(std::move(lengths)) / kStretchShare);
}

// What stands around one stretch, while the threads are walked.
struct Around {
  EmptyStretch at;
  EventIndex before = kNoEvent;  // ended last before it
  EventIndex after = kNoEvent;   // begins first after it
  EventIndex range = kNoEvent;   // innermost annotation that encloses it
};

bool IsLaunchingRole(ThreadRole role) {
  return role == ThreadRole::kMain || role == ThreadRole::kAutograd ||
         role == ThreadRole::kLauncher;
}

// Finds neighbours: for each stretch the event that ended last before it and the one that begins
// first after it, outermost of those that end or begin there; the innermost annotation around it.
class NeighbourFinder {
 public:
  NeighbourFinder(const HostInput& input, HostNames* names, std::vector<Around>* stretches)
      : events_(input.events), names_(*names), stretches_(*stretches) {}

  void Thread(std::span<const EventIndex> thread) {
    next_ = 0;
    open_.clear();
    for (const EventIndex e : thread) {
      const Event& event = events_[e];
      const bool range = event.kind == EventKind::kUserAnnotation ||
                         (event.kind == EventKind::kCpuOp && names_.Of(e).range);
      if (range) {
        OpenRange(e, event);
      } else if (event.kind != EventKind::kPythonFunction) {
        Neighbour(e, event);
      }
    }
    Settle(std::numeric_limits<std::int64_t>::max());
  }

 private:
  void Neighbour(EventIndex e, const Event& event) {
    // The first stretch that begins when this has ended.
    const auto next = std::lower_bound(
        stretches_.begin(), stretches_.end(), event.end_ns(),
        [](const Around& around, std::int64_t at) { return around.at.start_ns < at; });
    if (next != stretches_.end()) {
      const EventIndex known = next->before;
      // Of those that end together the outermost, which comes first in preorder.
      if (known == kNoEvent || events_[known].end_ns() < event.end_ns()) next->before = e;
    }
    // The last stretch that ended when this begins.
    const auto past = std::upper_bound(
        stretches_.begin(), stretches_.end(), event.ts_ns,
        [](std::int64_t at, const Around& around) { return at < around.at.end_ns; });
    if (past == stretches_.begin()) return;
    Around& last = *std::prev(past);
    if (last.after == kNoEvent || events_[last.after].ts_ns > event.ts_ns) last.after = e;
  }

  struct OpenedRange {
    EventIndex event;
    std::int64_t end_ns;  // not after that of what encloses it
  };

  void OpenRange(EventIndex e, const Event& event) {
    if (events_.name(e).starts_with("ProfilerStep#")) return;
    Settle(event.ts_ns);
    CloseUntil(event.ts_ns);
    const std::int64_t end =
        open_.empty() ? event.end_ns() : std::min(event.end_ns(), open_.back().end_ns);
    open_.push_back({e, end});
  }
  void CloseUntil(std::int64_t at_ns) {
    while (!open_.empty() && open_.back().end_ns <= at_ns)
      open_.pop_back();
  }
  // Names the innermost annotation around each stretch that begins before that moment. Ends of open
  // ones fall inwards, so that it is found by bisection.
  void Settle(std::int64_t until_ns) {
    for (; next_ < stretches_.size() && stretches_[next_].at.start_ns < until_ns; ++next_) {
      Around& around = stretches_[next_];
      CloseUntil(around.at.start_ns);
      const auto inner = std::partition_point(
          open_.begin(), open_.end(),
          [&](const OpenedRange& range) { return range.end_ns >= around.at.end_ns; });
      if (inner != open_.begin()) around.range = std::prev(inner)->event;
    }
  }

  const trace::EventStore& events_;
  HostNames& names_;
  std::size_t next_ = 0;            // the first stretch whose annotation is not settled
  std::vector<OpenedRange> open_;   // outermost first
  std::vector<Around>& stretches_;  // by start, disjoint
};

struct FrameKey {
  std::uint32_t group;
  StringId frame;
  StringId code;
  auto operator<=>(const FrameKey&) const = default;
};

// Cuts pieces of a thread's time by the stretches that they overlap; pieces come in order.
class StretchCursor {
 public:
  explicit StretchCursor(const std::vector<Around>& stretches) : stretches_(stretches) {}
  void StartThread() { next_ = 0; }
  // take(stretch, ns) for each overlap.
  template <typename Take>
  void Cut(std::int64_t start, std::int64_t end, const Take& take) {
    while (next_ < stretches_.size() && stretches_[next_].at.end_ns <= start)
      ++next_;
    for (std::size_t i = next_; i < stretches_.size() && stretches_[i].at.start_ns < end; ++i) {
      take(i, std::min(end, stretches_[i].at.end_ns) - std::max(start, stretches_[i].at.start_ns));
    }
  }

 private:
  const std::vector<Around>& stretches_;  // by start, disjoint
  std::size_t next_ = 0;
};

// Adds up the Python frames that are innermost inside the stretches. What a built-in takes is its
// caller's time, which has a file and a line; a built-in that only waits keeps its name.
class FrameGatherer {
 public:
  FrameGatherer(const HostInput& input, HostNames* names, const std::vector<Around>& stretches,
                const std::vector<std::uint32_t>& group_of)
      : events_(input.events), names_(*names), cursor_(stretches), group_of_(group_of) {}

  void StartThread() { cursor_.StartThread(); }
  void Open(EventIndex e, std::int64_t) {
    Level level = levels_.empty() ? Level{} : levels_.back();
    if (events_[e].kind == EventKind::kPythonFunction) {
      if (names_.Of(e).user_frame) level.code = events_[e].name;
      const bool built_in = events_.name(e).starts_with("<built-in");
      if (!built_in || level.frame == kNoString || names_.Of(e).waiting_frame)
        level.frame = events_[e].name;
    }
    levels_.push_back(level);
  }
  void Close(EventIndex, std::int64_t) { levels_.pop_back(); }
  void Piece(EventIndex e, std::int64_t start, std::int64_t end) {
    if (events_[e].kind != EventKind::kPythonFunction) return;
    cursor_.Cut(start, end, [&](std::size_t stretch, std::int64_t ns) {
      sums_[{group_of_[stretch], levels_.back().frame, levels_.back().code}] += ns;
    });
  }

  // Names that look alike (an object's address apart) are one frame.
  void Tell(std::vector<StretchGroup>* groups) {
    std::map<std::tuple<std::uint32_t, std::string, std::string>, std::int64_t> shown;
    for (const auto& [key, ns] : sums_) {
      std::string name = ShownHostName(EventKind::kPythonFunction, events_.text(key.frame));
      std::string code(events_.text(key.code));
      if (code == name) code.clear();
      shown[{key.group, std::move(name), std::move(code)}] += ns;
    }
    for (const auto& [key, ns] : shown) {
      const auto& [group, name, code] = key;
      (*groups)[group].frames.push_back({name, code, ns, IsWaitingFrame(name)});
      (*groups)[group].frames_ns += ns;
    }
    for (StretchGroup& group : *groups)
      OrderFrames(&group);
  }

 private:
  struct Level {
    StringId frame = kNoString;  // the nearest that is no built-in
    StringId code = kNoString;   // the nearest of the user's
  };

  // A thread that waits beside one that works says nothing: it comes after the work, unless there
  // is next to no work.
  static void OrderFrames(StretchGroup* group) {
    std::int64_t worked = 0;
    for (const StretchFrame& frame : group->frames)
      worked += frame.waits ? 0 : frame.ns;
    const bool work_first = worked * 2 >= group->total_ns;
    std::stable_sort(group->frames.begin(), group->frames.end(),
                     [&](const StretchFrame& a, const StretchFrame& b) {
                       if (work_first && a.waits != b.waits) return b.waits;
                       return a.ns > b.ns;
                     });
    if (group->frames.size() > kStretchFramesMax) group->frames.resize(kStretchFramesMax);
  }

  const trace::EventStore& events_;
  HostNames& names_;
  StretchCursor cursor_;
  const std::vector<std::uint32_t>& group_of_;  // by stretch
  std::vector<Level> levels_;                   // by open event
  std::map<FrameKey, std::int64_t> sums_;
};

// Adds up what threads that launch nothing do in the stretches.
class MeanwhileGatherer {
 public:
  MeanwhileGatherer(const HostInput& input, HostNames* names, const std::vector<Around>& stretches,
                    const std::vector<std::uint32_t>& group_of)
      : events_(input.events), names_(*names), cursor_(stretches), group_of_(group_of) {}

  void StartThread() { cursor_.StartThread(); }
  void Open(EventIndex, std::int64_t) {}
  void Close(EventIndex, std::int64_t) {}
  void Piece(EventIndex e, std::int64_t start, std::int64_t end) {
    if (names_.Of(e).waiting_frame) return;
    cursor_.Cut(start, end, [&](std::size_t stretch, std::int64_t ns) {
      sums_[{group_of_[stretch], events_[e].name}] += ns;
    });
  }

  void Tell(std::vector<StretchGroup>* groups) const {
    for (const auto& [key, ns] : sums_) {
      StretchGroup& group = (*groups)[key.first];
      constexpr std::int64_t kWorthTelling = 10;  // a tenth of the group's time
      if (ns <= group.meanwhile_ns || ns * kWorthTelling < group.total_ns) continue;
      group.meanwhile_ns = ns;
      group.meanwhile = events_.strings[key.second];
    }
  }

 private:
  const trace::EventStore& events_;
  HostNames& names_;
  StretchCursor cursor_;
  const std::vector<std::uint32_t>& group_of_;  // by stretch
  std::map<std::pair<std::uint32_t, StringId>, std::int64_t> sums_;
};

void FinishStretches(const HostGpuWork& gpu, StretchGroup* group) {
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> periods;
  for (std::size_t i = 0; i < group->stretches.size(); ++i) {
    const EmptyStretch& one = group->stretches[i];
    lengths.push_back(one.end_ns - one.start_ns);
    if (i > 0) periods.push_back(one.start_ns - group->stretches[i - 1].start_ns);
    group->gpu_busy_ns += gpu.BusyNs(one.start_ns, one.end_ns);
    group->total_ns += lengths.back();
    group->max_ns = std::max(group->max_ns, lengths.back());
  }
  group->count = group->stretches.size();
  group->median_ns = UpperMedian(std::move(lengths));
  if (!periods.empty()) group->period_ns = UpperMedian(std::move(periods));
}

using NeighbourIds = std::tuple<StringId, StringId, StringId>;  // before, after, range

// Stretches with the same neighbours on both sides.
struct SameStretches {
  NeighbourIds ids;
  std::vector<std::uint32_t> members;  // into the list of stretches, by start
  std::int64_t total_ns = 0;
  std::int64_t MeanNs() const { return total_ns / static_cast<std::int64_t>(members.size()); }
};

std::vector<SameStretches> BySameNeighbours(const trace::EventStore& events,
                                            const std::vector<Around>& stretches) {
  std::vector<SameStretches> out;
  std::map<NeighbourIds, std::size_t> known;
  const auto id = [&](EventIndex e) { return e == kNoEvent ? kNoString : events[e].name; };
  for (std::uint32_t i = 0; i < stretches.size(); ++i) {
    const Around& around = stretches[i];
    const NeighbourIds ids(id(around.before), id(around.after), id(around.range));
    const auto [found, added] = known.try_emplace(ids, out.size());
    if (added) out.push_back({ids, {}, 0});
    out[found->second].members.push_back(i);
    out[found->second].total_ns += around.at.end_ns - around.at.start_ns;
  }
  std::stable_sort(out.begin(), out.end(), [](const SameStretches& a, const SameStretches& b) {
    return a.total_ns > b.total_ns;
  });
  return out;
}

// The first and the last turn of a loop often have another neighbour on one side: such stragglers
// join the group of the other side, if they are of about its length and few beside it. Says the
// group of each stretch; the first of a group's neighbours name it.
std::vector<StretchGroup> GroupStretches(const trace::EventStore& events,
                                         const std::vector<Around>& stretches,
                                         std::vector<std::uint32_t>* group_of) {
  constexpr std::int64_t kAlike = 3;  // times as long, or as short
  std::vector<StretchGroup> groups;
  std::vector<std::int64_t> means;                // of the group's first members
  std::vector<std::size_t> sizes;                 // their number
  std::map<NeighbourIds, std::uint32_t> by_side;  // with kNoString for the other side
  group_of->assign(stretches.size(), 0);
  const auto name = [&](StringId id) {
    return id == kNoString ? std::string() : std::string(events.strings[id]);
  };
  for (const SameStretches& same : BySameNeighbours(events, stretches)) {
    const auto& [before, after, range] = same.ids;
    const std::array<NeighbourIds, 2> sides = {NeighbourIds(before, kNoString, range),
                                               NeighbourIds(kNoString, after, range)};
    auto group = static_cast<std::uint32_t>(groups.size());
    for (const NeighbourIds& side : sides) {
      const auto found = by_side.find(side);
      if (found == by_side.end() || std::get<0>(side) == std::get<1>(side)) continue;
      const std::int64_t mean = means[found->second];
      const bool alike = same.MeanNs() * kAlike >= mean && same.MeanNs() <= mean * kAlike;
      if (alike && same.members.size() * 2 <= sizes[found->second]) group = found->second;
      if (group < groups.size()) break;
    }
    if (group == groups.size()) {
      groups.emplace_back();
      groups.back().before = name(before);
      groups.back().after = name(after);
      groups.back().range = name(range);
      means.push_back(same.MeanNs());
      sizes.push_back(same.members.size());
      for (const NeighbourIds& side : sides)
        by_side.try_emplace(side, group);
    }
    for (const std::uint32_t member : same.members)
      (*group_of)[member] = group;
  }
  for (std::uint32_t i = 0; i < stretches.size(); ++i)
    groups[(*group_of)[i]].stretches.push_back(stretches[i].at);
  return groups;
}

}  // namespace

HostStretches FindStretches(const HostInput& input, const ThreadTimes& threads,
                            const HostGpuWork& gpu, HostNames* names) {
  HostStretches out;
  out.threshold_ns = ThresholdOf(threads);
  std::vector<Around> stretches;
  for (const Interval<std::int64_t>& piece : threads.between) {
    const std::int64_t ns = piece.end - piece.start;
    if (ns < out.threshold_ns) {
      out.short_ns += ns;
      ++out.short_count;
      continue;
    }
    out.total_ns += ns;
    stretches.push_back({{piece.start, piece.end}});
  }
  const auto slices = ThreadsOf(input.events, input.tree);
  NeighbourFinder neighbours(input, names, &stretches);
  for (std::size_t t = 0; t < slices.size(); ++t) {
    if (IsLaunchingRole(threads.threads[t].role)) neighbours.Thread(slices[t]);
  }
  std::vector<std::uint32_t> group_of;
  out.groups = GroupStretches(input.events, stretches, &group_of);
  FrameGatherer frames(input, names, stretches, group_of);
  MeanwhileGatherer meanwhile(input, names, stretches, group_of);
  for (std::size_t t = 0; t < slices.size(); ++t) {
    const ThreadRole role = threads.threads[t].role;
    if (IsLaunchingRole(role)) {
      frames.StartThread();
      WalkThread(input.events, input.tree, slices[t], &frames);
    } else if (role != ThreadRole::kMonitor) {
      meanwhile.StartThread();
      WalkThread(input.events, input.tree, slices[t], &meanwhile);
    }
  }
  for (StretchGroup& group : out.groups)
    FinishStretches(gpu, &group);
  frames.Tell(&out.groups);
  meanwhile.Tell(&out.groups);
  std::stable_sort(
      out.groups.begin(), out.groups.end(),
      [](const StretchGroup& a, const StretchGroup& b) { return a.total_ns > b.total_ns; });
  return out;
}

}  // namespace jarvis::analysis
