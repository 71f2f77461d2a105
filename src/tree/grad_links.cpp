#include "tree/grad_links.h"

#include <algorithm>
#include <tuple>

#include "base/run_sort.h"

namespace jarvis::tree {

using trace::EventKind;

void GradLinks(const trace::EventStore& events, const CallTree& tree, EventLinks* forward_of,
               EventLinks* backward_of) {
  struct Entry {
    std::int64_t sequence;
    std::int64_t ts_ns;
    EventIndex event;
    std::uint32_t process;  // each counts for itself
    bool SameNumber(const Entry& other) const {
      return sequence == other.sequence && process == other.process;
    }
  };
  const std::vector<std::uint32_t> process_of = ProcessesOfTracks(events);
  std::vector<Entry> entries;
  std::vector<char> is_node(events.strings.size(), 2);  // by name: 0 no, 1 yes, 2 not looked at
  for (EventIndex e = 0; e < events.size(); ++e) {
    if (events[e].kind != EventKind::kCpuOp || tree.position(e) == kNoPosition) continue;
    const std::int64_t sequence = events.args_of(e).sequence;
    if (sequence != trace::kAbsent && sequence >= 0)
      entries.push_back({sequence, events[e].ts_ns, e, process_of[events[e].track]});
  }
  RunSort(entries, [](const Entry& a, const Entry& b) {
    return std::tie(a.sequence, a.process, a.ts_ns) < std::tie(b.sequence, b.process, b.ts_ns);
  });
  const auto node = [&](EventIndex e) {
    char& known = is_node[events[e].name];
    if (known == 2) known = events.name(e).starts_with(kBackwardNodePrefix) ? 1 : 0;
    return known == 1;
  };
  for (std::size_t first = 0, end = 0; first < entries.size(); first = end) {
    std::size_t backward = entries.size();
    for (end = first; end < entries.size() && entries[end].SameNumber(entries[first]); ++end) {
      if (backward == entries.size() && node(entries[end].event)) backward = end;
    }
    if (backward == entries.size()) continue;
    // The last to start before the node. Strictly before: chains of links must not go in circles.
    std::size_t forward = backward;
    while (forward > first && entries[forward - 1].ts_ns == entries[backward].ts_ns)
      --forward;
    if (forward == first) continue;
    const EventIndex b = entries[backward].event;
    const EventIndex f = entries[forward - 1].event;
    forward_of->push_back({b, f});
    backward_of->push_back({f, b});
  }
  // An event has one sequence number, so it is in one link at most.
  std::sort(forward_of->begin(), forward_of->end());
  std::sort(backward_of->begin(), backward_of->end());
}

}  // namespace jarvis::tree
