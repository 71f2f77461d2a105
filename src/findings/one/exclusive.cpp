#include "findings/one/exclusive.h"

#include <algorithm>

namespace jarvis::findings {

std::vector<double> ExclusiveUs(const trace::EventStore& events,
                                std::span<const trace::EventIndex> work,
                                std::span<const std::uint32_t> owner, std::size_t groups) {
  struct Edge {
    std::int64_t at;
    std::uint32_t owner;
    bool begins;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const trace::Event& event = events[work[i]];
    if (event.dur_ns <= 0) continue;
    edges.push_back({event.ts_ns, owner[i], true});
    edges.push_back({event.end_ns(), owner[i], false});
  }
  // Ends before begins, so that neighbours do not touch.
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    if (a.at != b.at) return a.at < b.at;
    return a.begins < b.begins;
  });
  // A set is alone while one set alone has work that runs; unowned work is a set of its own.
  std::vector<std::uint32_t> running(groups + 1, 0);
  std::vector<std::int64_t> alone(groups + 1, 0);
  std::size_t sets = 0;   // with work that runs
  std::uint64_t sum = 0;  // of their indices: with one set it is the set
  std::int64_t since = 0;
  for (const Edge& edge : edges) {
    if (sets == 1) alone[sum] += edge.at - since;
    since = edge.at;
    const std::size_t set = edge.owner == kNoOwner ? groups : edge.owner;
    if (edge.begins) {
      if (running[set]++ == 0) {
        ++sets;
        sum += set;
      }
    } else if (--running[set] == 0) {
      --sets;
      sum -= set;
    }
  }
  std::vector<double> us;
  us.reserve(groups);
  for (std::size_t i = 0; i < groups; ++i)
    us.push_back(trace::MicrosOf(alone[i]));
  return us;
}

}  // namespace jarvis::findings
