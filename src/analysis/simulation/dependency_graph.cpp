#include "analysis/simulation/dependency_graph.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "analysis/simulation/graph_order.h"

namespace jarvis::analysis {
namespace {

// What ended a silence, for its wake.
struct Cause {
  std::uint32_t thread;
  double time;
  std::uint32_t hand_over;  // or kNoPlace
  std::uint32_t hidden;     // or kNoPlace
};

class GraphMaker {
 public:
  explicit GraphMaker(const Dependencies& dependencies)
      : d_(dependencies), recorded_(dependencies.recorded) {}

  DependencyGraph Run() {
    CollectCauses();
    NumberNodes();
    // About three edges for two nodes: a work has one in, one from its launch, one of its own.
    edges_.reserve(draft_.nodes() + draft_.nodes() / 2);
    for (std::uint32_t t = 0; t < d_.points.size(); ++t)
      LinkThread(t);
    NextWait next{d_.stream_waits, 0};
    for (std::uint32_t work = 0; work < recorded_.works.size(); ++work)
      LinkWork(work, next.Of(work));
    return OrderGraph(std::move(draft_), edges_);
  }

 private:
  // The waits of one work after the other.
  struct NextWait {
    const std::vector<StreamWait>& waits;
    std::size_t at;
    std::span<const StreamWait> Of(std::uint32_t work) {
      const std::size_t first = at;
      while (at < waits.size() && waits[at].work == work)
        ++at;
      return std::span(waits).subspan(first, at - first);
    }
  };

  void CollectCauses() {
    for (std::uint32_t i = 0; i < d_.hand_overs.size(); ++i) {
      const Silence& silence = d_.hand_overs[i].silence;
      causes_.push_back({silence.thread, silence.to, i, kNoPlace});
    }
    for (std::uint32_t i = 0; i < d_.hidden_waits.size(); ++i) {
      const HiddenWait& wait = d_.hidden_waits[i];
      if (!wait.accepted && !wait.candidate) continue;
      causes_.push_back({wait.silence.thread, wait.silence.to, kNoPlace, i});
    }
    std::stable_sort(causes_.begin(), causes_.end(), [](const Cause& a, const Cause& b) {
      return std::tie(a.thread, a.time) < std::tie(b.thread, b.time);
    });
  }

  std::span<const Cause> CausesOf(std::uint32_t thread, double time) const {
    const auto less = [](const Cause& a, const Cause& b) {
      return std::tie(a.thread, a.time) < std::tie(b.thread, b.time);
    };
    const auto range =
        std::equal_range(causes_.begin(), causes_.end(), Cause{thread, time, 0, 0}, less);
    return {range.first, range.second};
  }

  void NumberNodes() {
    AddNode(NodeKind::kStart, kNoPlace, 0);
    draft_.call_begin.assign(recorded_.calls.size(), kNoPlace);
    draft_.call_end.assign(recorded_.calls.size(), kNoPlace);
    double start = std::numeric_limits<double>::max();
    for (std::uint32_t t = 0; t < d_.points.size(); ++t) {
      auto& nodes = draft_.threads.emplace_back();
      for (const HostPoint& point : d_.points[t]) {
        const bool wakes = point.kind == HostPointKind::kWake;
        const auto node = AddNode(wakes ? NodeKind::kWake : NodeKind::kHostPoint, t, point.time);
        nodes.push_back(node);
        if (point.kind == HostPointKind::kCallBegin) draft_.call_begin[point.call] = node;
        if (point.kind == HostPointKind::kCallEnd) draft_.call_end[point.call] = node;
        start = std::min(start, point.time);
      }
    }
    for (std::uint32_t work = 0; work < recorded_.works.size(); ++work) {
      draft_.work_start.push_back(AddNode(NodeKind::kWorkStart, work, recorded_.works[work].start));
      draft_.work_end.push_back(AddNode(NodeKind::kWorkEnd, work, recorded_.works[work].end));
      start = std::min(start, recorded_.works[work].start);
    }
    if (draft_.nodes() == 1) start = 0;
    draft_.start = start;
    for (std::uint32_t node = 1; node < draft_.nodes(); ++node)
      draft_.observed[node] -= start;
  }

  std::uint32_t AddNode(NodeKind kind, std::uint32_t item, double time) {
    draft_.kinds.push_back(kind);
    draft_.items.push_back(item);
    draft_.observed.push_back(time);
    return static_cast<std::uint32_t>(draft_.nodes() - 1);
  }

  void AddEdge(std::uint32_t from, std::uint32_t to, double delay, EdgeKind kind,
               std::uint32_t item, Assumption assumption = Assumption::kNone) {
    edges_.push_back({to, delay, {from, item, kind, assumption}});
  }
  void AnchorAt(std::uint32_t node, Assumption assumption = Assumption::kNone) {
    AddEdge(0, node, draft_.observed[node], EdgeKind::kStart, kNoPlace, assumption);
  }

  void LinkThread(std::uint32_t t) {
    const std::vector<HostPoint>& points = d_.points[t];
    const std::vector<std::uint32_t>& nodes = draft_.threads[t];
    for (std::size_t p = 0; p < points.size(); ++p) {
      const HostPoint& point = points[p];
      if (point.kind == HostPointKind::kWake) {
        LinkWake(t, p);
      } else if (p == 0) {
        AnchorAt(nodes[p]);
      } else {
        // A call that holds others ends after their ends, and may wait all the same.
        const bool ends = point.kind == HostPointKind::kCallEnd;
        const bool in_call = ends && (points[p - 1].call == point.call ||
                                      d_.host_waits.by_call[point.call].kind != WaitKind::kNone);
        const double took = point.time - points[p - 1].time;
        if (in_call) {
          LinkCallEnd(point.call, nodes[p - 1], nodes[p], took);
        } else {
          AddEdge(nodes[p - 1], nodes[p], took, EdgeKind::kHostSegment, kNoPlace);
        }
      }
    }
    LinkArrivals(t);
  }

  // Who waits for a loader's workers gets a batch no sooner by asking sooner: from one that was
  // waited for to the next the workers take what they took.
  void LinkArrivals(std::uint32_t t) {
    constexpr double kTie = 0.01;  // us: of two reasons the thread's own is told
    std::uint32_t before = kNoPlace;
    std::size_t p = 0;
    for (const double time : recorded_.threads[t].arrivals) {
      const std::vector<HostPoint>& points = d_.points[t];
      while (p < points.size() && (points[p].time < time || points[p].kind == HostPointKind::kWake))
        ++p;
      if (p == points.size()) return;
      const std::uint32_t node = draft_.threads[t][p];
      if (node == before) continue;
      const double since = before == kNoPlace ? 0 : draft_.observed[node] - draft_.observed[before];
      if (since > kTie) AddEdge(before, node, since - kTie, EdgeKind::kArrival, kNoPlace);
      before = node;
    }
  }

  void LinkCallEnd(std::uint32_t c, std::uint32_t begin, std::uint32_t end, double took) {
    const HostWait& wait = d_.host_waits.by_call[c];
    if (wait.kind != WaitKind::kNone) {
      AddEdge(begin, end, std::min(wait.own_cost, took), EdgeKind::kHostCall, c);
      AddEdge(draft_.work_end[wait.work], end, wait.return_delay, EdgeKind::kReturn, c);
      for (std::uint32_t i = 0; i < wait.others; ++i) {
        AddEdge(draft_.work_end[d_.host_waits.others[wait.first_other + i]], end, wait.return_delay,
                EdgeKind::kReturn, c);
      }
      return;
    }
    const std::uint32_t room = d_.queue.room_after[c];
    if (room == kNoPlace) {
      AddEdge(begin, end, took, EdgeKind::kHostCall, c);
      return;
    }
    const HostCall& call = recorded_.calls[c];
    const double lag = call.end - recorded_.works[room].start;
    const bool waited =
        IsSlowLaunch(call, d_.calibration) && IsReturnAfter(call, recorded_.works[room].start);
    AddEdge(begin, end, waited ? d_.calibration.UsualCall(call.name) : took, EdgeKind::kHostCall,
            c);
    if (waited || lag > kQueueReturn) {
      AddEdge(draft_.work_start[room], end, kQueueReturn, EdgeKind::kQueueFull, c);
    }
  }

  // The last point of that time that is no wake.
  std::uint32_t NodeAt(std::uint32_t thread, double time) const {
    const auto& points = d_.points[thread];
    auto after = std::upper_bound(points.begin(), points.end(), time,
                                  [](double t, const HostPoint& point) { return t < point.time; });
    while (after != points.begin()) {
      --after;
      if (after->kind != HostPointKind::kWake) break;
    }
    return draft_.threads[thread][static_cast<std::size_t>(after - points.begin())];
  }

  void LinkWake(std::uint32_t t, std::size_t p) {
    constexpr double kHandOverMax = 200;
    const double time = d_.points[t][p].time;
    const std::uint32_t node = draft_.threads[t][p];
    const auto causes = CausesOf(t, time);
    const bool waited = std::any_of(causes.begin(), causes.end(), [&](const Cause& cause) {
      return cause.hidden != kNoPlace && d_.hidden_waits[cause.hidden].accepted;
    });
    double silent_from = time;
    for (const Cause& cause : causes) {
      if (cause.hand_over != kNoPlace) {
        const HandOver& one = d_.hand_overs[cause.hand_over];
        const double lag = time - one.done;
        silent_from = std::min(silent_from, one.silence.from);
        AddEdge(NodeAt(one.from_thread, one.done), node, waited ? std::min(lag, kHandOverMax) : lag,
                EdgeKind::kHandOver, cause.hand_over, Assumption::kHandOver);
      } else {
        const HiddenWait& one = d_.hidden_waits[cause.hidden];
        silent_from = std::min(silent_from, one.silence.from);
        AddEdge(draft_.work_end[one.work], node, one.delay, EdgeKind::kHiddenWait, cause.hidden,
                one.accepted ? Assumption::kHiddenWait : Assumption::kHiddenCandidate);
      }
    }
    if (p == 0) {
      AnchorAt(node, Assumption::kAnchor);
      return;
    }
    // Before the silence the thread worked.
    const double worked = std::max(0.0, silent_from - d_.points[t][p - 1].time);
    AddEdge(draft_.threads[t][p - 1], node, worked, EdgeKind::kHostSegment, kNoPlace);
  }

  void LinkWork(std::uint32_t w, std::span<const StreamWait> waits) {
    const GpuWork& work = recorded_.works[w];
    const std::uint32_t start = draft_.work_start[w];
    bool linked = false;
    if (work.previous != kNoPlace) {
      AddEdge(draft_.work_end[work.previous], start, d_.calibration.GapBefore(w), EdgeKind::kStream,
              w);
      linked = true;
    }
    // Later work of a graph follows on its stream.
    const bool first = recorded_.IsFirstOfCall(w);
    if (work.call != kNoPlace && (first || work.previous == kNoPlace)) {
      const bool call_waits = d_.host_waits.by_call[work.call].kind != WaitKind::kNone;
      const LaunchAnchor anchor = d_.calibration.AnchorOf(w, call_waits);
      AddEdge(anchor.at_end ? draft_.call_end[work.call] : draft_.call_begin[work.call], start,
              anchor.delay, EdgeKind::kLaunch, w);
      if (work.previous == kNoPlace) AnchorAt(start, Assumption::kAnchor);
      linked = true;
    }
    for (const StreamWait& wait : waits) {
      const Assumption assumption =
          wait.kind == StreamWaitKind::kInferred || wait.kind == StreamWaitKind::kRoom
              ? Assumption::kInferredWait
              : Assumption::kNone;
      if (wait.kind == StreamWaitKind::kRoom) {
        AddEdge(draft_.work_start[wait.source], start, wait.delay, EdgeKind::kRoom, wait.source,
                assumption);
      } else {
        AddEdge(draft_.work_end[wait.source], start, wait.delay, EdgeKind::kStreamWait, w,
                assumption);
        linked = linked || assumption == Assumption::kNone;
      }
    }
    if (!linked) AnchorAt(start);
    AddEdge(start, draft_.work_end[w], work.duration(), EdgeKind::kGpuWork, w);
    if (work.collective) AnchorAt(draft_.work_end[w], Assumption::kCollectiveEnd);
  }

  const Dependencies& d_;
  const RecordedWork& recorded_;
  std::vector<Cause> causes_;  // by thread, time
  DependencyGraph draft_;
  std::vector<DraftEdge> edges_;
};

}  // namespace

DependencyGraph MakeGraph(const Dependencies& dependencies) {
  return GraphMaker(dependencies).Run();
}

}  // namespace jarvis::analysis
