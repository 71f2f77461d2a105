#include "analysis/simulation/change.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace jarvis::analysis {
namespace {

// What a graph's launch costs: at once, and for each of its nodes. Published figures are about
// 1 us a node (CUDA 12); the larger ones are of the first launches and of older drivers.
struct GraphCost {
  double fixed;
  double a_node;
};
constexpr GraphCost kGraphCost = {8, 1};
constexpr GraphCost kDearGraphCost = {30, 3};
constexpr std::size_t kGraphPointsMin = 8;  // fewer launches are no graph worth having

constexpr double kPinnedLaunch = 10;  // us

constexpr double kHostShareMax = 0.95;  // of a stretch that can be the profiler's cost

bool HoldsEdge(double delay) {
  return delay > kNoEdge / 2;
}

class Applier {
 public:
  Applier(const ChangeTarget& target, Estimate estimate, Delays* delays)
      : recorded_(target.recorded),
        graph_(target.graph),
        waits_(target.waits),
        observed_(target.observed),
        estimate_(estimate),
        delays_(*delays),
        near_(target.graph.threads.size()) {}

  void operator()(const ScaleGpu& change) {
    if (change.factors.empty()) return;
    for (std::size_t i = 0; i < change.events.size(); ++i) {
      const double factor = change.factors[std::min(i, change.factors.size() - 1)];
      const std::uint32_t work = recorded_.WorkAt(change.events[i]);
      if (work != kNoPlace) SetWork(work, delays_[graph_.work_edge[work]] * factor);
    }
    EndWorks();
  }

  void operator()(const SetGpuTime& change) {
    if (change.us.empty()) return;
    for (std::size_t i = 0; i < change.events.size(); ++i) {
      const std::uint32_t work = recorded_.WorkAt(change.events[i]);
      if (work != kNoPlace) SetWork(work, change.us[std::min(i, change.us.size() - 1)]);
    }
    EndWorks();
  }

  void operator()(const RemoveGpu& change) {
    std::vector<std::uint32_t> removed_of_call(recorded_.calls.size(), 0);
    for (const trace::EventIndex event : change.events) {
      const std::uint32_t work = recorded_.WorkAt(event);
      if (work == kNoPlace) continue;
      SetWork(work, 0);
      RemoveStart(work);
      const std::uint32_t call = recorded_.works[work].call;
      if (call != kNoPlace && ++removed_of_call[call] == recorded_.calls[call].works) {
        RemoveCall(call);
      }
    }
    EndWorks();
  }

  void operator()(const ScaleHost& change) {
    for (const HostStretch& stretch : change.stretches) {
      ForHostEdges(stretch, [&](std::uint32_t node, std::uint32_t edge, double overlap) {
        if (!change.calls && graph_.edges[edge].kind == EdgeKind::kHostCall) return;
        HurryWorkers(node, change.factor, overlap, delays_[edge]);
        Lose(edge, (1 - change.factor) * overlap);
      });
    }
    Shorten(1);
  }

  // What an edge loses, stretch by stretch, until Shorten: its delay stays as it is till then, as
  // stretches are parts of what it was.
  void Lose(std::uint32_t edge, double us) {
    if (us == 0) return;
    less_.resize(graph_.edges.size());
    if (less_[edge] == 0) losing_.push_back(edge);
    less_[edge] += us;
  }

  void Shorten(double most_part) {
    for (const std::uint32_t edge : losing_) {
      delays_[edge] -= std::min(less_[edge], most_part * std::max(0.0, delays_[edge]));
      less_[edge] = 0;
    }
    losing_.clear();
  }

  // A loader whose user no longer waits delivers as soon as it is asked; one that is waited for
  // less, by as much sooner.
  void HurryWorkers(std::uint32_t node, double factor, double overlap, double of) {
    constexpr double kGone = 0.1, kMost = 0.5;
    const std::uint32_t arrival = EdgeOf(node, EdgeKind::kArrival);
    if (arrival == kNoPlace || !HoldsEdge(delays_[arrival])) return;
    const bool gone = factor < kGone && overlap > kMost * of;
    delays_[arrival] = gone ? kNoEdge : delays_[arrival] - (1 - factor) * overlap;
  }

  void operator()(const RemoveProfilerCost& change) {
    for (const HostCost& cost : change.costs) {
      const double us = (estimate_ == Estimate::kLeast  ? cost.low_ns
                         : estimate_ == Estimate::kMost ? cost.high_ns
                                                        : cost.expected_ns()) /
                        1000;
      const double length = recorded_.Micros(cost.end_ns) - recorded_.Micros(cost.begin_ns);
      ForHostEdges({cost.track, cost.begin_ns, cost.end_ns},
                   [&](std::uint32_t, std::uint32_t edge, double overlap) {
                     if (length > 0) Lose(edge, us * std::min(1.0, overlap / length));
                   });
    }
    Shorten(kHostShareMax);
  }

  void operator()(const GraphLaunches& change) {
    const double begin = recorded_.Micros(change.begin_ns) - graph_.start;
    const double end = recorded_.Micros(change.end_ns) - graph_.start;
    const GraphCost cost = estimate_ == Estimate::kLeast ? kDearGraphCost : kGraphCost;
    const std::vector<std::uint32_t> call_of_node = CallsOfNodes();
    for (const std::vector<std::uint32_t>& nodes : graph_.threads) {
      Run run;
      for (std::size_t p = 0; p < nodes.size(); ++p) {
        const std::uint32_t call = call_of_node[nodes[p]];
        const double at = graph_.observed[nodes[p]];
        const bool inside = at >= begin && at <= end;
        if (!inside || !Extend(call, p, graph_.call_begin, nodes[p], &run)) {
          Capture(nodes, cost, run);
          run = {};
        }
      }
      Capture(nodes, cost, run);
    }
  }

  void operator()(const PinCopies& change) {
    for (const trace::EventIndex event : change.copies) {
      const std::uint32_t w = recorded_.WorkAt(event);
      if (w == kNoPlace || recorded_.works[w].kind != trace::EventKind::kMemcpy) continue;
      const GpuWork& work = recorded_.works[w];
      if (!work.to_host && !work.from_host) continue;
      if (work.bytes > 0) {
        const double rate = kPinnedRates[static_cast<std::size_t>(estimate_)];
        SetWork(w, std::min(delays_[graph_.work_edge[w]], work.bytes / rate));
      }
      if (work.call == kNoPlace) continue;
      if (work.from_host || LaunchBeforeRead(recorded_, work) != kNoPlace) ReleaseCopy(w);
    }
    EndWorks();
  }

  void operator()(const RemoveWaits& change) {
    if (change.all) {
      for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
        const EdgeKind kind = graph_.edges[e].kind;
        if (kind == EdgeKind::kReturn || kind == EdgeKind::kHiddenWait) delays_[e] = kNoEdge;
      }
    }
    for (const trace::EventIndex event : change.calls) {
      const std::uint32_t call = recorded_.CallAt(event);
      if (call != kNoPlace) Release(graph_.call_end[call]);
    }
  }

 private:
  std::uint32_t EdgeOf(std::uint32_t node, EdgeKind kind) const {
    for (std::uint32_t e = graph_.EdgesBegin(node); e < graph_.EdgesEnd(node); ++e) {
      if (graph_.edges[e].kind == kind) return e;
    }
    return kNoPlace;
  }

  // What waits for room beside it waits as much shorter; see EndWorks.
  void SetWork(std::uint32_t work, double us) {
    double& delay = delays_[graph_.work_edge[work]];
    if (delay > 0 && !graph_.room_edges.empty()) scaled_.emplace_back(work, us / delay);
    delay = us;
  }

  void EndWorks() {
    if (scaled_.empty()) return;
    std::stable_sort(scaled_.begin(), scaled_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const std::uint32_t e : graph_.room_edges) {
      if (!HoldsEdge(delays_[e])) continue;
      const auto found =
          std::lower_bound(scaled_.begin(), scaled_.end(), graph_.edges[e].item,
                           [](const auto& one, std::uint32_t work) { return one.first < work; });
      if (found == scaled_.end() || found->first != graph_.edges[e].item) continue;
      delays_[e] *= found->second;
    }
    scaled_.clear();
  }

  // Nothing is launched for it, and nothing comes between the works around it.
  void RemoveStart(std::uint32_t work) {
    const std::uint32_t node = graph_.work_start[work];
    const std::uint32_t stream = EdgeOf(node, EdgeKind::kStream);
    if (stream == kNoPlace) return;
    delays_[stream] = std::min(delays_[stream], 0.0);
    const std::uint32_t launch = EdgeOf(node, EdgeKind::kLaunch);
    if (launch != kNoPlace) delays_[launch] = kNoEdge;
  }

  void RemoveCall(std::uint32_t call) {
    const std::uint32_t own = EdgeOf(graph_.call_end[call], EdgeKind::kHostCall);
    if (own == kNoPlace) return;
    delays_[own] = 0;
    Release(graph_.call_end[call]);
    const std::uint32_t queue = EdgeOf(graph_.call_end[call], EdgeKind::kQueueFull);
    if (queue != kNoPlace) delays_[queue] = kNoEdge;
  }

  void Release(std::uint32_t call_end) {
    for (std::uint32_t e = graph_.EdgesBegin(call_end); e < graph_.EdgesEnd(call_end); ++e) {
      if (graph_.edges[e].kind == EdgeKind::kReturn) delays_[e] = kNoEdge;
    }
  }

  // The host no longer stages a copy nor waits for it, in its call or right after it.
  void ReleaseCopy(std::uint32_t work) {
    const std::uint32_t call = recorded_.works[work].call;
    if (recorded_.calls[call].then_sync != kNoPlace) RemoveCall(recorded_.calls[call].then_sync);
    if (waits_.by_call[call].kind != WaitKind::kCopy) return;
    const std::uint32_t own = EdgeOf(graph_.call_end[call], EdgeKind::kHostCall);
    if (own == kNoPlace) return;
    Release(graph_.call_end[call]);
    delays_[own] = kPinnedLaunch;
    const std::uint32_t launch = EdgeOf(graph_.work_start[work], EdgeKind::kLaunch);
    if (launch != kNoPlace && HoldsEdge(delays_[launch])) {
      delays_[launch] = std::min(delays_[launch], kPinnedLaunch);
    }
  }

  // use(node, edge, microseconds of it in the stretch) for the host's own time.
  template <typename Use>
  void ForHostEdges(const HostStretch& stretch, const Use& use) {
    const double begin = recorded_.Micros(stretch.begin_ns) - graph_.start;
    const double end = recorded_.Micros(stretch.end_ns) - graph_.start;
    for (std::size_t t = 0; t < graph_.threads.size(); ++t) {
      if (stretch.track != kAllTracks && recorded_.threads[t].track != stretch.track) continue;
      const std::vector<std::uint32_t>& nodes = graph_.threads[t];
      auto node = nodes.begin() + FirstAfter(nodes, begin, &near_[t]);
      if (node == nodes.begin() && node != nodes.end()) ++node;
      for (; node != nodes.end(); ++node) {
        const double from = graph_.observed[*std::prev(node)];
        if (from >= end) break;
        const std::uint32_t edge = OwnTime(*node);
        if (edge == kNoPlace || !HoldsEdge(delays_[edge])) continue;
        // Of host time that other changes made shorter, as large a part is left everywhere in it.
        const double now = std::max(0.0, delays_[edge]);
        const double own = std::max(now, observed_[edge]);
        const double to = std::min(graph_.observed[*node], from + own);
        const double overlap = std::min(to, end) - std::max(from, begin);
        if (overlap > 0 && own > 0) use(*node, edge, overlap * (now / own));
      }
    }
  }

  // The place of the first node that was observed after a time. Stretches come in order, so that it
  // is looked for from where the last one was found: `near`, any place of the list.
  std::ptrdiff_t FirstAfter(const std::vector<std::uint32_t>& nodes, double time,
                            std::size_t* near) const {
    const auto is_after = [&](std::size_t at) { return time < graph_.observed[nodes[at]]; };
    std::size_t low = 0;  // all before it are not after
    std::size_t high = nodes.size();
    std::size_t step = 1;
    if (*near < nodes.size() && !is_after(*near)) {
      for (low = *near + 1; low + step < high && !is_after(low + step); step *= 2)
        low += step + 1;
      high = std::min(high, low + step);
    } else {
      high = std::min(high, *near);
    }
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (is_after(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    *near = low > 0 ? low - 1 : 0;
    return static_cast<std::ptrdiff_t>(low);
  }

  std::uint32_t OwnTime(std::uint32_t node) const {
    const std::uint32_t segment = EdgeOf(node, EdgeKind::kHostSegment);
    return segment != kNoPlace ? segment : EdgeOf(node, EdgeKind::kHostCall);
  }

  struct Run {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t points = 0;
    std::size_t calls = 0;
  };

  std::vector<std::uint32_t> CallsOfNodes() const {
    std::vector<std::uint32_t> calls(graph_.nodes(), kNoPlace);
    for (std::uint32_t c = 0; c < recorded_.calls.size(); ++c) {
      calls[graph_.call_begin[c]] = c;
      calls[graph_.call_end[c]] = c;
    }
    return calls;
  }

  // Whether the point may be in a graph. Launches and what orders streams may be; waits, uploads
  // and allocations may not.
  bool Extend(std::uint32_t c, std::size_t p, const std::vector<std::uint32_t>& begins,
              std::uint32_t node, Run* run) const {
    if (c == kNoPlace || waits_.by_call[c].kind != WaitKind::kNone) return false;
    const HostCall& call = recorded_.calls[c];
    const bool launches = call.works > 0;
    if (launches && recorded_.works[recorded_.WorksOf(call).front()].from_host) return false;
    if (!launches && call.role == CallRole::kMayWait) return false;
    if (!launches && run->points == 0) return true;
    if (run->points++ == 0) run->first = p;
    run->last = p;
    if (begins[c] == node) ++run->calls;
    return true;
  }

  void Capture(const std::vector<std::uint32_t>& nodes, const GraphCost& cost, const Run& run) {
    if (run.points < kGraphPointsMin) return;
    double now = 0;
    for (std::size_t p = run.first + 1; p <= run.last; ++p) {
      const std::uint32_t edge = OwnTime(nodes[p]);
      if (edge != kNoPlace && HoldsEdge(delays_[edge])) now += delays_[edge];
    }
    const double as_graph = cost.fixed + cost.a_node * static_cast<double>(run.calls);
    if (as_graph >= now) return;  // nobody would make a graph of it
    for (std::size_t p = run.first + 1; p <= run.last; ++p) {
      const std::uint32_t edge = OwnTime(nodes[p]);
      if (edge == kNoPlace || !HoldsEdge(delays_[edge])) continue;
      // Calls begin where segments end: each node costs a little before its work can start.
      const bool is_segment = graph_.edges[edge].kind == EdgeKind::kHostSegment;
      delays_[edge] = (p == run.first + 1 ? cost.fixed : 0) + (is_segment ? cost.a_node : 0);
    }
  }

  const RecordedWork& recorded_;
  const DependencyGraph& graph_;
  const HostWaits& waits_;
  const Delays& observed_;
  const Estimate estimate_;
  Delays& delays_;
  std::vector<std::size_t> near_;                         // by thread: where the last stretch began
  std::vector<double> less_;                              // by edge: what it loses; see Lose
  std::vector<std::uint32_t> losing_;                     // edges that lose something
  std::vector<std::pair<std::uint32_t, double>> scaled_;  // works and factors of this change
};

// What the lists of a change take up.
struct ListBytes {
  template <typename T>
  static std::size_t Of(const std::vector<T>& list) {
    return list.capacity() * sizeof(T);
  }
  std::size_t operator()(const ScaleGpu& one) const { return Of(one.events) + Of(one.factors); }
  std::size_t operator()(const SetGpuTime& one) const { return Of(one.events) + Of(one.us); }
  std::size_t operator()(const RemoveGpu& one) const { return Of(one.events); }
  std::size_t operator()(const ScaleHost& one) const { return Of(one.stretches); }
  std::size_t operator()(const GraphLaunches&) const { return 0; }
  std::size_t operator()(const PinCopies& one) const { return Of(one.copies); }
  std::size_t operator()(const RemoveWaits& one) const { return Of(one.calls); }
  std::size_t operator()(const RemoveProfilerCost& one) const { return Of(one.costs); }
};

}  // namespace

std::size_t MemoryOf(std::span<const Change> changes) {
  std::size_t bytes = changes.size_bytes();
  for (const Change& change : changes)
    bytes += std::visit(ListBytes(), change);
  return bytes;
}

bool IsUncertain(const Change& change) {
  return std::holds_alternative<GraphLaunches>(change) ||
         std::holds_alternative<PinCopies>(change) ||
         std::holds_alternative<RemoveProfilerCost>(change);
}

void ApplyChanges(const ChangeTarget& target, std::span<const Change> changes, Estimate estimate,
                  Delays* delays) {
  Applier applier(target, estimate, delays);
  for (const Change& change : changes)
    std::visit(applier, change);
}

void ZeroGpu(const DependencyGraph& graph, Delays* delays) {
  for (std::uint32_t node = 1; node < graph.nodes(); ++node) {
    for (std::uint32_t e = graph.EdgesBegin(node); e < graph.EdgesEnd(node); ++e) {
      double& delay = (*delays)[e];
      if (!HoldsEdge(delay)) continue;
      const EdgeKind kind = graph.edges[e].kind;
      if (kind == EdgeKind::kGpuWork || kind == EdgeKind::kRoom) delay = 0;
      if (kind == EdgeKind::kStream) delay = std::min(delay, 0.0);
      if (kind == EdgeKind::kStart && graph.kinds[node] == NodeKind::kWorkStart) delay = 0;
    }
  }
}

void ZeroHost(const DependencyGraph& graph, Delays* delays) {
  constexpr double kLaunchMin = 3;  // us: the GPU's own part of a launch
  for (std::uint32_t node = 1; node < graph.nodes(); ++node) {
    const bool on_host =
        graph.kinds[node] == NodeKind::kHostPoint || graph.kinds[node] == NodeKind::kWake;
    for (std::uint32_t e = graph.EdgesBegin(node); e < graph.EdgesEnd(node); ++e) {
      double& delay = (*delays)[e];
      if (!HoldsEdge(delay)) continue;
      switch (graph.edges[e].kind) {
        case EdgeKind::kHostSegment:
        case EdgeKind::kHostCall:
        case EdgeKind::kHandOver:
        case EdgeKind::kHiddenWait: delay = 0; break;
        case EdgeKind::kReturn: delay = std::min(delay, 0.0); break;
        case EdgeKind::kLaunch: delay = std::clamp(delay, 0.0, kLaunchMin); break;
        case EdgeKind::kStart:
          if (on_host) delay = 0;
          break;
        default: break;
      }
    }
  }
}

}  // namespace jarvis::analysis
