#include "tree/nest.h"

#include <algorithm>

#include "base/run_sort.h"
#include "trace/step_mark.h"

namespace jarvis::tree {
namespace {

using trace::Event;
using trace::EventIndex;
using trace::EventKind;

// Overlaps below this come from the clock: the two events follow each other.
constexpr std::int64_t kSliverNs = 1000;

// Of two events with the same interval, the one of the lower rank encloses the other.
int Rank(EventKind kind) {
  switch (kind) {
    case EventKind::kUserAnnotation: return 0;
    case EventKind::kPythonFunction: return 1;
    case EventKind::kCpuOp: return 2;
    case EventKind::kRuntime: return 3;
    default: return 4;
  }
}

bool Before(const Event& a, const Event& b) {
  if (a.ts_ns != b.ts_ns) return a.ts_ns < b.ts_ns;
  if (a.dur_ns != b.dur_ns) return a.dur_ns > b.dur_ns;
  if (a.kind != b.kind) return Rank(a.kind) < Rank(b.kind);
  if (a.order != b.order) return a.order < b.order;
  return a.uid < b.uid;
}

// A step's mark that begins a little before the one before it is over.
bool IsNextStep(const trace::EventStore& events, EventIndex around, EventIndex e) {
  const Event& event = events[e];
  const Event& other = events[around];
  if (event.kind != EventKind::kUserAnnotation || other.kind != EventKind::kUserAnnotation ||
      event.end_ns() <= other.end_ns()) {
    return false;
  }
  return 2 * (other.end_ns() - event.ts_ns) <= std::min(event.dur_ns, other.dur_ns) &&
         trace::StepNumberOf(events.name(e)) && trace::StepNumberOf(events.name(around));
}

}  // namespace

void SortForNesting(const trace::EventStore& events, std::vector<EventIndex>* thread) {
  RunSort(*thread, [&](EventIndex a, EventIndex b) { return Before(events[a], events[b]); });
}

void NestThread(const trace::EventStore& events, std::span<const EventIndex> sorted,
                std::uint32_t base, EventIndex* parent, std::uint32_t* subtree_end) {
  struct Open {
    std::int64_t end_ns;
    std::uint32_t at;
  };
  std::vector<Open> open;
  for (std::uint32_t at = 0; at < sorted.size(); ++at) {
    const Event& event = events[sorted[at]];
    // A launch call may stand below the deepest level, so that its work stays that of the call.
    const bool leaf = !open.empty() && trace::IsLaunchCall(event.kind) &&
                      !trace::IsLaunchCall(events[sorted[open.back().at]].kind);
    const std::size_t open_max = leaf ? kLevelsMax : kLevelsMax - 1;
    while (!open.empty()) {
      const Open& top = open.back();
      const bool over = event.ts_ns >= top.end_ns;
      const bool sliver = event.end_ns() > top.end_ns && top.end_ns - event.ts_ns < kSliverNs;
      const bool next = !over && IsNextStep(events, sorted[top.at], sorted[at]);
      if (!over && !sliver && !next && open.size() <= open_max) break;
      subtree_end[base + top.at] = base + at;
      open.pop_back();
    }
    parent[sorted[at]] = open.empty() ? trace::kNoEvent : sorted[open.back().at];
    const std::int64_t end =
        open.empty() ? event.end_ns() : std::min(event.end_ns(), open.back().end_ns);
    open.push_back({end, at});
  }
  for (const Open& left : open) {
    subtree_end[base + left.at] = base + static_cast<std::uint32_t>(sorted.size());
  }
}

}  // namespace jarvis::tree
