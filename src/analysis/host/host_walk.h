// One pass over the host events of a trace, thread by thread, that says at each moment which event
// is the innermost. Linear in events, whatever their nesting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/call_tree.h"

namespace jarvis::analysis {

// The host events of each thread, in preorder; threads as they stand in the tree.
inline std::vector<std::span<const trace::EventIndex>> ThreadsOf(const trace::EventStore& events,
                                                                 const tree::CallTree& tree) {
  std::vector<std::span<const trace::EventIndex>> threads;
  const std::span<const trace::EventIndex> order = tree.preorder();
  for (std::size_t begin = 0; begin < order.size();) {
    const std::uint32_t track = events[order[begin]].track;
    std::size_t end = begin + 1;
    while (end < order.size() && events[order[end]].track == track)
      ++end;
    threads.push_back(order.subspan(begin, end - begin));
    begin = end;
  }
  return threads;
}

// Visits one thread's events. `visitor` has
//   void Open(EventIndex e, std::int64_t start_ns);
//   void Piece(EventIndex innermost, std::int64_t start_ns, std::int64_t end_ns);  // start < end
//   void Close(EventIndex e, std::int64_t end_ns);
// Pieces come in the order of time and do not overlap; between them nothing was recorded. An event
// that sticks out of what encloses it ends with that.
template <typename Visitor>
void WalkThread(const trace::EventStore& events, const tree::CallTree& tree,
                std::span<const trace::EventIndex> thread, Visitor* visitor) {
  struct Level {
    trace::EventIndex event;
    std::int64_t end_ns;
  };
  std::vector<Level> open;
  std::int64_t now = thread.empty() ? 0 : events[thread.front()].ts_ns;
  const auto reach = [&](std::int64_t until) {
    if (!open.empty() && until > now) visitor->Piece(open.back().event, now, until);
    now = std::max(now, until);
  };
  const auto close = [&] {
    reach(open.back().end_ns);
    visitor->Close(open.back().event, open.back().end_ns);
    open.pop_back();
  };
  for (const trace::EventIndex e : thread) {
    const trace::Event& event = events[e];
    const trace::EventIndex parent = tree.parent(e);
    while (!open.empty() && open.back().event != parent)
      close();
    reach(event.ts_ns);
    const std::int64_t end =
        open.empty() ? event.end_ns() : std::min(event.end_ns(), open.back().end_ns);
    open.push_back({e, std::max(end, event.ts_ns)});
    visitor->Open(e, std::max(event.ts_ns, now));
  }
  while (!open.empty())
    close();
}

}  // namespace jarvis::analysis
