#include "findings/one/exclusive.h"

#include <algorithm>

namespace jarvis::findings {

std::vector<double> ExclusiveUs(const trace::EventStore& events,
                                std::span<const trace::EventIndex> work,
                                std::span<const std::uint32_t> owner, std::size_t groups) {
  struct Edge {
    std::int64_t at;
    std::uint32_t owner;
  };
  std::vector<Edge> begins, ends;
  begins.reserve(work.size());
  ends.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const trace::Event& event = events[work[i]];
    if (event.dur_ns <= 0) continue;
    begins.push_back({event.ts_ns, owner[i]});
    ends.push_back({event.end_ns(), owner[i]});
  }
  const auto before = [](const Edge& a, const Edge& b) { return a.at < b.at; };
  for (std::vector<Edge>* edges : {&begins, &ends}) {  // work mostly comes by its start
    if (!std::is_sorted(edges->begin(), edges->end(), before))
      std::sort(edges->begin(), edges->end(), before);
  }
  // A set is alone while one set alone has work that runs; unowned work is a set of its own.
  std::vector<std::uint32_t> running(groups + 1, 0);
  std::vector<std::int64_t> alone(groups + 1, 0);
  std::size_t sets = 0;   // with work that runs
  std::uint64_t sum = 0;  // of their indices: with one set it is the set
  std::int64_t since = 0;
  const auto pass = [&](const Edge& edge) {
    if (sets == 1) alone[sum] += edge.at - since;
    since = edge.at;
    return edge.owner == kNoOwner ? groups : edge.owner;
  };
  auto begin = begins.cbegin();
  for (const Edge& end : ends) {
    // Ends before begins, so that neighbours do not touch.
    for (; begin != begins.cend() && begin->at < end.at; ++begin) {
      const std::size_t set = pass(*begin);
      if (running[set]++ > 0) continue;
      ++sets;
      sum += set;
    }
    const std::size_t set = pass(end);
    if (--running[set] > 0) continue;
    --sets;
    sum -= set;
  }
  std::vector<double> us;
  us.reserve(groups);
  for (std::size_t i = 0; i < groups; ++i)
    us.push_back(trace::MicrosOf(alone[i]));
  return us;
}

}  // namespace jarvis::findings
