#include "analysis/host/host_stretches.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

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
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return std::max(kStretchLeastNs, *middle / kStretchShare);
}

// What stands around one stretch, while the threads are walked.
struct Around {
  HostStretch at;
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
      : events_(input.events), tree_(input.tree), names_(*names), stretches_(*stretches) {}

  void Thread(std::span<const EventIndex> thread) {
    for (const EventIndex e : thread) {
      const Event& event = events_[e];
      const bool range = event.kind == EventKind::kUserAnnotation ||
                         (event.kind == EventKind::kCpuOp && names_.Of(e).range);
      if (range) {
        Enclose(e, event);
      } else if (event.kind != EventKind::kPythonFunction) {
        Neighbour(e, event);
      }
    }
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

  // Each annotation asks for the stretches in it; one stretch is in few that nest, and of these the
  // innermost comes last. Only the first so many in an annotation are told, as annotations may nest
  // without limit.
  void Enclose(EventIndex e, const Event& event) {
    if (events_.name(e).starts_with("ProfilerStep#")) return;
    constexpr int kEnclosedMax = 4096;
    auto at = std::lower_bound(
        stretches_.begin(), stretches_.end(), event.ts_ns,
        [](const Around& around, std::int64_t ts) { return around.at.start_ns < ts; });
    for (int told = 0; told < kEnclosedMax && at != stretches_.end(); ++told, ++at) {
      if (at->at.end_ns > event.end_ns()) break;
      at->range = e;
    }
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  HostNames& names_;
  std::vector<Around>& stretches_;  // by start, disjoint
};

struct FrameKey {
  std::uint32_t group;
  StringId frame;
  StringId code;
  auto operator<=>(const FrameKey&) const = default;
};

// Adds up the Python frames that are innermost inside the stretches.
class FrameGatherer {
 public:
  FrameGatherer(const HostInput& input, HostNames* names, const std::vector<Around>& stretches,
                const std::vector<std::uint32_t>& group_of)
      : events_(input.events), names_(*names), stretches_(stretches), group_of_(group_of) {}

  void StartThread() { next_ = 0; }
  void Open(EventIndex e, std::int64_t) {
    StringId code = codes_.empty() ? kNoString : codes_.back();
    if (events_[e].kind == EventKind::kPythonFunction && names_.Of(e).user_frame)
      code = events_[e].name;
    codes_.push_back(code);
  }
  void Close(EventIndex, std::int64_t) { codes_.pop_back(); }
  void Piece(EventIndex e, std::int64_t start, std::int64_t end) {
    if (events_[e].kind != EventKind::kPythonFunction) return;
    while (next_ < stretches_.size() && stretches_[next_].at.end_ns <= start)
      ++next_;
    for (std::size_t i = next_; i < stretches_.size() && stretches_[i].at.start_ns < end; ++i) {
      const std::int64_t ns =
          std::min(end, stretches_[i].at.end_ns) - std::max(start, stretches_[i].at.start_ns);
      sums_[{group_of_[i], events_[e].name, codes_.back()}] += ns;
    }
  }

  // Names that look alike (an object's address apart) are one frame.
  void Tell(std::vector<StretchGroup>* groups) {
    std::map<std::tuple<std::uint32_t, std::string, std::string>, std::int64_t> shown;
    for (const auto& [key, ns] : sums_) {
      std::string name = ShownHostName(EventKind::kPythonFunction, events_.strings[key.frame]);
      std::string code(events_.text(key.code));
      if (code == name) code.clear();
      shown[{key.group, std::move(name), std::move(code)}] += ns;
    }
    for (const auto& [key, ns] : shown) {
      const auto& [group, name, code] = key;
      (*groups)[group].frames.push_back({name, code, ns, IsWaitingFrame(name)});
      (*groups)[group].frames_ns += ns;
    }
    for (StretchGroup& group : *groups) {
      std::stable_sort(group.frames.begin(), group.frames.end(),
                       [](const StretchFrame& a, const StretchFrame& b) { return a.ns > b.ns; });
      if (group.frames.size() > kStretchFramesMax) group.frames.resize(kStretchFramesMax);
    }
  }

 private:
  const trace::EventStore& events_;
  HostNames& names_;
  const std::vector<Around>& stretches_;
  const std::vector<std::uint32_t>& group_of_;  // by stretch
  std::size_t next_ = 0;
  std::vector<StringId> codes_;  // by open event: the nearest user frame
  std::map<FrameKey, std::int64_t> sums_;
};

std::string NameOrNone(const trace::EventStore& events, EventIndex e) {
  return e == kNoEvent ? std::string() : std::string(events.name(e));
}

void FinishStretches(const HostGpuWork& gpu, StretchGroup* group) {
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> periods;
  for (std::size_t i = 0; i < group->stretches.size(); ++i) {
    const HostStretch& one = group->stretches[i];
    lengths.push_back(one.end_ns - one.start_ns);
    if (i > 0) periods.push_back(one.start_ns - group->stretches[i - 1].start_ns);
    group->gpu_busy_ns += gpu.BusyNs(one.start_ns, one.end_ns);
    group->total_ns += lengths.back();
    group->max_ns = std::max(group->max_ns, lengths.back());
  }
  const auto median = [](std::vector<std::int64_t>* values) {
    const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
    std::nth_element(values->begin(), middle, values->end());
    return *middle;
  };
  group->count = group->stretches.size();
  group->median_ns = median(&lengths);
  if (!periods.empty()) group->period_ns = median(&periods);
}

// Groups in the order of their first stretch; says the group of each stretch.
std::vector<StretchGroup> GroupStretches(const trace::EventStore& events,
                                         const std::vector<Around>& stretches,
                                         std::vector<std::uint32_t>* group_of) {
  std::vector<StretchGroup> groups;
  std::map<std::tuple<StringId, StringId, StringId>, std::uint32_t> known;
  const auto id = [&](EventIndex e) { return e == kNoEvent ? kNoString : events[e].name; };
  for (const Around& around : stretches) {
    const std::tuple key(id(around.before), id(around.after), id(around.range));
    const auto [found, added] = known.try_emplace(key, static_cast<std::uint32_t>(groups.size()));
    if (added) {
      groups.emplace_back();
      groups.back().before = NameOrNone(events, around.before);
      groups.back().after = NameOrNone(events, around.after);
      groups.back().range = NameOrNone(events, around.range);
    }
    group_of->push_back(found->second);
    groups[found->second].stretches.push_back(around.at);
  }
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
  for (std::size_t t = 0; t < slices.size(); ++t) {
    if (!IsLaunchingRole(threads.threads[t].role)) continue;
    frames.StartThread();
    WalkThread(input.events, input.tree, slices[t], &frames);
  }
  for (StretchGroup& group : out.groups)
    FinishStretches(gpu, &group);
  frames.Tell(&out.groups);
  std::stable_sort(
      out.groups.begin(), out.groups.end(),
      [](const StretchGroup& a, const StretchGroup& b) { return a.total_ns > b.total_ns; });
  return out;
}

}  // namespace jarvis::analysis
