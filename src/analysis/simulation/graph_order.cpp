#include "analysis/simulation/graph_order.h"

#include <algorithm>
#include <utility>

namespace jarvis::analysis {
namespace {

bool IsInferred(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kReturn:
    case EdgeKind::kStreamWait:
    case EdgeKind::kRoom:
    case EdgeKind::kHandOver:
    case EdgeKind::kHiddenWait:
    case EdgeKind::kQueueFull: return true;
    default: return false;
  }
}

// Nodes by when they could be settled; those in or behind a circle are missing.
std::vector<std::uint32_t> Settle(const DependencyGraph& graph, const std::vector<DraftEdge>& edges,
                                  std::vector<std::uint32_t>* open) {
  const std::size_t nodes = graph.nodes();
  open->assign(nodes, 0);
  std::vector<std::uint32_t> first(nodes + 1, 0);
  for (const DraftEdge& edge : edges) {
    ++(*open)[edge.to];
    ++first[edge.edge.from + 1];
  }
  for (std::size_t n = 0; n < nodes; ++n)
    first[n + 1] += first[n];
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  std::vector<std::uint32_t> targets(edges.size());
  for (const DraftEdge& edge : edges)
    targets[next[edge.edge.from]++] = edge.to;
  std::vector<std::uint32_t> order;
  order.reserve(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    if ((*open)[n] == 0) order.push_back(n);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t node = order[i];
    for (std::uint32_t t = first[node]; t < first[node + 1]; ++t) {
      if (--(*open)[targets[t]] == 0) order.push_back(targets[t]);
    }
  }
  return order;
}

// How many edges were dropped.
std::size_t DropCircles(const DependencyGraph& graph, const std::vector<std::uint32_t>& open,
                        bool all, std::vector<DraftEdge>* edges) {
  return std::erase_if(*edges, [&](const DraftEdge& edge) {
    if (open[edge.to] == 0 || open[edge.edge.from] == 0 || !IsInferred(edge.edge.kind)) {
      return false;
    }
    return all || graph.observed[edge.edge.from] > graph.observed[edge.to];
  });
}

// What nothing leads to any more happens when it did.
void AnchorLoose(const DependencyGraph& graph, std::vector<DraftEdge>* edges) {
  std::vector<bool> led_to(graph.nodes(), false);
  for (const DraftEdge& edge : *edges)
    led_to[edge.to] = true;
  for (std::uint32_t node = 1; node < graph.nodes(); ++node) {
    if (led_to[node]) continue;
    edges->push_back(
        {node, graph.observed[node], {0, kNoPlace, EdgeKind::kStart, Assumption::kNone}});
  }
}

}  // namespace

DependencyGraph OrderGraph(DependencyGraph draft, std::vector<DraftEdge> edges) {
  const std::size_t nodes = draft.nodes();
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> order = Settle(draft, edges, &open);
  std::size_t dropped = 0;
  while (order.size() < nodes) {
    std::size_t now = DropCircles(draft, open, false, &edges);
    // Threads go forward by themselves, streams do, and launches lead from one to the other only:
    // without inferred edges there is no circle.
    if (now == 0) now = DropCircles(draft, open, true, &edges);
    if (now == 0) break;
    dropped += now;
    order = Settle(draft, edges, &open);
  }
  AnchorLoose(draft, &edges);
  std::vector<std::uint32_t> place(nodes, kNoPlace);
  for (std::uint32_t i = 0; i < order.size(); ++i)
    place[order[i]] = i;

  DependencyGraph graph;
  graph.start = draft.start;
  graph.dropped_edges = static_cast<std::uint32_t>(dropped);
  for (const std::uint32_t node : order) {
    graph.observed.push_back(draft.observed[node]);
    graph.kinds.push_back(draft.kinds[node]);
    graph.items.push_back(draft.items[node]);
  }
  graph.first_edge.assign(nodes + 1, 0);
  for (const DraftEdge& edge : edges)
    ++graph.first_edge[place[edge.to] + 1];
  for (std::size_t n = 0; n < nodes; ++n)
    graph.first_edge[n + 1] += graph.first_edge[n];
  std::vector<std::uint32_t> next(graph.first_edge.begin(), graph.first_edge.end() - 1);
  graph.edges.resize(edges.size());
  graph.delays.resize(edges.size());
  for (const DraftEdge& edge : edges) {
    const std::uint32_t at = next[place[edge.to]]++;
    graph.edges[at] = edge.edge;
    graph.edges[at].from = place[edge.edge.from];
    graph.delays[at] = edge.delay;
  }
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
    if (graph.edges[e].kind == EdgeKind::kRoom) graph.room_edges.push_back(e);
  }
  const auto moved = [&](std::vector<std::uint32_t> numbers) {
    for (std::uint32_t& number : numbers) {
      if (number != kNoPlace) number = place[number];
    }
    return numbers;
  };
  graph.call_begin = moved(std::move(draft.call_begin));
  graph.call_end = moved(std::move(draft.call_end));
  graph.work_start = moved(std::move(draft.work_start));
  graph.work_end = moved(std::move(draft.work_end));
  for (const std::uint32_t end : graph.work_end) {
    std::uint32_t own = kNoPlace;
    for (std::uint32_t e = graph.EdgesBegin(end); e < graph.EdgesEnd(end) && own == kNoPlace; ++e)
      own = graph.edges[e].kind == EdgeKind::kGpuWork ? e : kNoPlace;
    graph.work_edge.push_back(own);
  }
  for (auto& thread : draft.threads)
    graph.threads.push_back(moved(std::move(thread)));
  return graph;
}

}  // namespace jarvis::analysis
