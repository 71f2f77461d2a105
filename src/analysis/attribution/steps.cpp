#include "analysis/attribution/steps.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "trace/step_mark.h"

namespace jarvis::analysis {

using trace::EventIndex;

std::vector<EventIndex> WithoutEmptyMarks(const trace::EventStore& events,
                                          const std::vector<EventIndex>& marks) {
  std::map<std::string_view, std::vector<std::size_t>> by_process;  // places in `marks`, by start
  for (std::size_t i = 0; i < marks.size(); ++i)
    by_process[events.tracks[events[marks[i]].track].pid].push_back(i);
  for (auto& [process, places] : by_process) {
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return events[marks[a]].ts_ns < events[marks[b]].ts_ns;
    });
  }
  std::vector<const std::vector<std::size_t>*> of_track(events.tracks.size());
  for (std::size_t t = 0; t < of_track.size(); ++t) {
    const auto found = by_process.find(events.tracks[t].pid);
    if (found != by_process.end()) of_track[t] = &found->second;
  }
  std::vector<bool> holds(marks.size(), false);
  std::size_t empty = marks.size();
  for (EventIndex e = 0; e < events.size() && empty > 0; ++e) {
    const trace::Event& event = events[e];
    const bool op = event.kind == trace::EventKind::kCpuOp;
    const std::vector<std::size_t>* places = of_track[event.track];
    if ((!op && !trace::IsLaunchCall(event.kind)) || places == nullptr) continue;
    const auto after = std::upper_bound(
        places->begin(), places->end(), event.ts_ns,
        [&](std::int64_t at, std::size_t i) { return at < events[marks[i]].ts_ns; });
    if (after == places->begin()) continue;
    const std::size_t i = *std::prev(after);
    if (holds[i] || event.ts_ns >= events[marks[i]].end_ns()) continue;
    // What the oldest profilers recorded as an op may be a mark itself.
    if (op && trace::StepNumberOf(events.name(e))) continue;
    holds[i] = true;
    --empty;
  }
  std::vector<EventIndex> kept;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (holds[i]) kept.push_back(marks[i]);
  }
  return kept.empty() ? marks : kept;
}

std::vector<EventIndex> OuterMarks(const trace::EventStore& events, std::vector<EventIndex> marks) {
  EventIndex last = trace::kNoEvent;
  std::erase_if(marks, [&](EventIndex e) {
    const trace::Event& mark = events[e];
    if (last != trace::kNoEvent) {
      const std::int64_t both = std::min(events[last].end_ns(), mark.end_ns()) - mark.ts_ns;
      if (both > 0 && 2 * both > std::min(events[last].dur_ns, mark.dur_ns)) return true;
    }
    last = e;
    return false;
  });
  return marks;
}

std::vector<EventIndex> MarksOnMainStream(const trace::EventStore& events) {
  std::vector<std::int64_t> work_ns(events.tracks.size());
  std::vector<std::vector<EventIndex>> marks(events.tracks.size());
  for (EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if ((event.flags & trace::kLeftOut) != 0) continue;
    if (trace::IsGpuWork(event.kind)) {
      work_ns[event.track] += event.dur_ns;
    } else if (event.kind == trace::EventKind::kGpuAnnotation &&
               trace::StepNumberOf(events.name(e))) {
      marks[event.track].push_back(e);
    }
  }
  std::size_t most = 0;
  for (std::size_t t = 0; t < marks.size(); ++t) {
    const auto rank = [&](std::size_t track) {
      return std::pair(!marks[track].empty(), work_ns[track]);
    };
    if (rank(t) > rank(most)) most = t;
  }
  if (marks.empty()) return {};
  std::vector<EventIndex>& main = marks[most];
  std::stable_sort(main.begin(), main.end(),
                   [&](EventIndex a, EventIndex b) { return events[a].ts_ns < events[b].ts_ns; });
  return OuterMarks(events, std::move(main));
}

std::vector<Step> FindSteps(const trace::EventStore& events, const tree::CallTree& tree) {
  std::vector<EventIndex> marks;
  for (const EventIndex e : tree.preorder()) {
    if (events[e].kind != trace::EventKind::kUserAnnotation) continue;
    if (trace::StepNumberOf(events.name(e))) marks.push_back(e);
  }
  marks = tree.preorder().empty() ? MarksOnMainStream(events) : WithoutEmptyMarks(events, marks);
  std::vector<Step> steps;
  for (const EventIndex e : marks) {
    steps.push_back({*trace::StepNumberOf(events.name(e)), events[e].ts_ns, events[e].end_ns()});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.start_ns < b.start_ns; });
  return steps;
}

std::int64_t StepOf(const trace::EventStore& events, const tree::CallTree& tree,
                    const std::vector<Step>& steps, EventIndex gpu) {
  const EventIndex launch = tree.parent(gpu);
  const std::int64_t at = events[launch == trace::kNoEvent ? gpu : launch].ts_ns;
  const auto after = std::upper_bound(steps.begin(), steps.end(), at,
                                      [](std::int64_t t, const Step& s) { return t < s.start_ns; });
  if (after == steps.begin() || at >= std::prev(after)->end_ns) return -1;
  return std::prev(after)->number;
}

}  // namespace jarvis::analysis
