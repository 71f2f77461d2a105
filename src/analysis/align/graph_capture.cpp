#include "analysis/align/graph_capture.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analysis/host/runtime_calls.h"
#include "base/text.h"
#include "perf/iteration_annotation.h"
#include "trace/json_text.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

bool IsCall(const trace::EventStore& events, EventIndex e) {
  return trace::IsLaunchCall(events[e].kind) && (events[e].flags & trace::kLeftOut) == 0;
}

// "capture_32_FULL", "capture_32_decode"
std::optional<std::int64_t> BatchOfName(std::string_view name) {
  constexpr std::string_view kBegin = "capture_";
  if (!name.starts_with(kBegin)) return std::nullopt;
  name.remove_prefix(kBegin.size());
  return ParseInt(name.substr(0, name.find('_')));
}

// The first size of the first operand that most ops have.
std::optional<std::int64_t> UsualRows(const trace::EventStore& events,
                                      const std::vector<EventIndex>& of) {
  std::map<std::int64_t, std::size_t> count;
  for (const EventIndex e : of) {
    if (events[e].kind != EventKind::kCpuOp) continue;
    const auto operands = trace::ElementsOf(events.text(events.args_of(e).dims));
    if (operands.empty()) continue;
    const auto sizes = trace::ElementsOf(operands.front());
    const auto rows = sizes.empty() ? std::nullopt : trace::IntegerOf(sizes.front());
    if (rows) ++count[*rows];
  }
  const auto most = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == count.end() ? std::nullopt : std::optional(most->first);
}

class CaptureFinder {
 public:
  CaptureFinder(const trace::EventStore& events, const tree::CallTree& tree)
      : events_(events), tree_(tree) {}

  std::vector<CapturedGraph> Run() {
    FindSpans();
    if (graphs_.empty()) return {};
    std::sort(graphs_.begin(), graphs_.end(),
              [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    std::vector<EventIndex> launches;
    for (const EventIndex e : tree_.preorder()) {
      if (IsDispatch(e)) launches.push_back(e);
    }
    std::stable_sort(launches.begin(), launches.end(), [&](EventIndex a, EventIndex b) {
      return events_[a].ts_ns < events_[b].ts_ns;
    });
    for (CapturedGraph& graph : graphs_)
      Fill(launches, &graph);
    std::erase_if(graphs_, [](const CapturedGraph& graph) { return graph.launches.empty(); });
    return std::move(graphs_);
  }

 private:
  // Begin and end in turn: captures do not overlap.
  void FindSpans() {
    std::vector<EventIndex> begins, ends;
    for (const EventIndex e : tree_.preorder()) {
      if (!IsCall(events_, e)) continue;
      if (events_.name(e).find("StreamBeginCapture") != std::string_view::npos) begins.push_back(e);
      if (events_.name(e).find("StreamEndCapture") != std::string_view::npos) ends.push_back(e);
    }
    const auto earlier = [&](EventIndex a, EventIndex b) {
      return events_[a].ts_ns < events_[b].ts_ns;
    };
    std::stable_sort(begins.begin(), begins.end(), earlier);
    std::stable_sort(ends.begin(), ends.end(), earlier);
    for (std::size_t i = 0; i < std::min(begins.size(), ends.size()); ++i) {
      CapturedGraph graph;
      graph.begin_ns = events_[begins[i]].end_ns();
      graph.end_ns = events_[ends[i]].ts_ns;
      if (graph.end_ns <= graph.begin_ns) continue;
      graph.batch = BatchAround(begins[i]);
      graph.batch_told = graph.batch.has_value();
      graph.modules = ModulesAround(begins[i]);
      graphs_.push_back(std::move(graph));
    }
  }

  std::optional<std::int64_t> BatchAround(EventIndex begin) const {
    for (EventIndex up = tree_.parent(begin); up != kNoEvent; up = tree_.parent(up)) {
      if (events_[up].kind != EventKind::kUserAnnotation) continue;
      if (const auto batch = BatchOfName(events_.name(up))) return batch;
    }
    return std::nullopt;
  }

  std::vector<EventIndex> ModulesAround(EventIndex begin) const {
    std::vector<EventIndex> modules;
    for (EventIndex up = tree_.parent(begin); up != kNoEvent; up = tree_.parent(up)) {
      if (events_.name(up).starts_with("nn.Module:")) modules.push_back(up);
    }
    std::reverse(modules.begin(), modules.end());
    return modules;
  }

  // A call that puts a node into the graph; of nested ones the outer.
  bool IsDispatch(EventIndex e) const {
    if (!IsNode(e)) return false;
    const EventIndex up = tree_.parent(e);
    return up == kNoEvent || !IsNode(up);
  }
  bool IsNode(EventIndex e) const {
    if (!IsCall(events_, e)) return false;
    const RuntimeKind kind = RuntimeKindOf(events_.name(e));
    return kind == RuntimeKind::kLaunch || kind == RuntimeKind::kCopy;
  }

  void Fill(const std::vector<EventIndex>& launches, CapturedGraph* graph) {
    std::vector<std::uint32_t> places;
    for (const EventIndex e : launches) {
      if (events_[e].ts_ns < graph->begin_ns || events_[e].end_ns() > graph->end_ns) continue;
      graph->launches.push_back(e);
      const std::string_view args = events_.text(events_.args_of(e).other);
      graph->kernels.push_back(trace::Unescape(trace::Unquoted(trace::MemberOf(args, "kernel"))));
      for (EventIndex up = e; up != kNoEvent && events_[up].ts_ns >= graph->begin_ns;
           up = tree_.parent(up)) {
        places.push_back(tree_.position(up));
      }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const std::uint32_t place : places)
      graph->events.push_back(tree_.preorder()[place]);
    if (!graph->batch) graph->batch = UsualRows(events_, graph->events);
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  std::vector<CapturedGraph> graphs_;
};

bool IsMemset(std::string_view name) {
  return ContainsNoCase(name, "memset") || ContainsNoCase(name, "fillbuffer");
}

// Copies carry no kernel's name: their kind must do.
bool Agrees(const trace::EventStore& replay, EventIndex gpu, const trace::EventStore& capture,
            EventIndex launch, const std::string& kernel) {
  if (!kernel.empty()) return kernel == replay.name(gpu);
  const std::string_view call = capture.name(launch);
  if (RuntimeKindOf(call) == RuntimeKind::kLaunch) return replay[gpu].kind == EventKind::kKernel;
  const std::string_view name = replay.name(gpu);
  return IsMemset(call) == IsMemset(name) &&
         (replay[gpu].kind != EventKind::kKernel || IsMemset(name) || ContainsNoCase(name, "copy"));
}

// Of the kernels of a replay: so many more may have been launched while it was captured.
constexpr double kFewSurplus = 0.1;

class Aligner {
 public:
  Aligner(const trace::EventStore& replayed, const ReplayedGraph& replay,
          const trace::EventStore& captured, const CapturedGraph& capture)
      : replayed_(replayed),
        replay_(replay),
        captured_(captured),
        capture_(capture),
        most_(static_cast<double>(replay.gpu.size()) * (1 + kFewSurplus)) {}

  std::vector<std::uint32_t> Run() const {
    const std::size_t launches = capture_.launches.size();
    if (replay_.gpu.empty() || launches < replay_.gpu.size()) return {};
    if (static_cast<double>(launches) > most_) return {};
    const bool named = Named();
    if (!OneStream()) return named ? ByStream() : Places();
    if (launches > replay_.gpu.size()) return named ? Subset() : Places();
    Places in_order = InOrder();
    return in_order.empty() && named ? ByName() : in_order;
  }

 private:
  using Places = std::vector<std::uint32_t>;

  // Is what each kernel launch starts recorded?
  bool Named() const {
    bool any = false;
    for (std::size_t i = 0; i < capture_.kernels.size(); ++i) {
      if (RuntimeKindOf(captured_.name(capture_.launches[i])) != RuntimeKind::kLaunch) continue;
      if (capture_.kernels[i].empty()) return false;
      any = true;
    }
    return any;
  }

  std::int64_t StreamOf(EventIndex gpu) const { return replayed_.args_of(gpu).stream; }
  bool OneStream() const {
    return std::all_of(replay_.gpu.begin(), replay_.gpu.end(), [&](EventIndex gpu) {
      return StreamOf(gpu) == StreamOf(replay_.gpu.front());
    });
  }
  bool Fits(std::size_t gpu, std::size_t launch) const {
    return Agrees(replayed_, replay_.gpu[gpu], captured_, capture_.launches[launch],
                  capture_.kernels[launch]);
  }

  Places InOrder() const {
    Places out;
    for (std::uint32_t i = 0; i < replay_.gpu.size(); ++i) {
      if (!Fits(i, i)) return {};
      out.push_back(i);
    }
    return out;
  }

  Places ByName() const {
    std::map<std::string_view, std::vector<std::uint32_t>> launches;
    for (std::uint32_t i = 0; i < capture_.kernels.size(); ++i)
      launches[capture_.kernels[i]].push_back(i);
    std::map<std::string_view, std::size_t> taken;
    Places out;
    for (const EventIndex gpu : replay_.gpu) {
      const auto found = launches.find(replayed_.name(gpu));
      if (found == launches.end()) return {};
      const std::size_t at = taken[found->first]++;
      if (at >= found->second.size()) return {};
      out.push_back(found->second[at]);
    }
    return out;
  }

  // A graph may leave out what was launched while it was captured, such as copies of nothing.
  Places Subset() const {
    Places out;
    std::uint32_t launch = 0;
    for (std::size_t gpu = 0; gpu < replay_.gpu.size(); ++gpu) {
      while (launch < capture_.launches.size() && !Fits(gpu, launch))
        ++launch;
      if (launch == capture_.launches.size()) return {};
      out.push_back(launch++);
    }
    return out;
  }

  // Each stream runs its kernels in the order in which they were launched; which stream a launch
  // went to is told by the kernel that is next there.
  Places ByStream() const {
    std::map<std::int64_t, std::vector<std::uint32_t>> streams;
    for (std::uint32_t i = 0; i < replay_.gpu.size(); ++i)
      streams[StreamOf(replay_.gpu[i])].push_back(i);
    std::map<std::int64_t, std::size_t> heads;
    Places out(replay_.gpu.size());
    std::size_t placed = 0;
    for (std::uint32_t launch = 0; launch < capture_.launches.size(); ++launch) {
      const std::vector<std::uint32_t>* best = nullptr;
      std::size_t* head = nullptr;
      std::size_t longest = 0;
      for (const auto& [stream, queue] : streams) {
        const std::size_t run = RunOf(queue, heads[stream], launch);
        if (run <= longest) continue;
        longest = run;
        best = &queue;
        head = &heads[stream];
      }
      if (best == nullptr) continue;
      out[(*best)[(*head)++]] = launch;
      ++placed;
    }
    return placed == out.size() ? out : Places();
  }

  // How many launches from one on fit what a stream runs next.
  std::size_t RunOf(const std::vector<std::uint32_t>& queue, std::size_t head,
                    std::size_t launch) const {
    constexpr std::size_t kFarEnough = 64;
    std::size_t run = 0;
    while (run < kFarEnough && head + run < queue.size() &&
           launch + run < capture_.launches.size() && Fits(queue[head + run], launch + run)) {
      ++run;
    }
    return run;
  }

  const trace::EventStore& replayed_;
  const ReplayedGraph& replay_;
  const trace::EventStore& captured_;
  const CapturedGraph& capture_;
  const double most_;  // launches that the capture may have
};

}  // namespace

std::vector<CapturedGraph> FindCapturedGraphs(const trace::EventStore& events,
                                              const tree::CallTree& tree) {
  return CaptureFinder(events, tree).Run();
}

namespace {

std::vector<EventIndex> EngineSteps(const trace::EventStore& events, const tree::CallTree& tree) {
  std::vector<EventIndex> out;
  for (const EventIndex e : tree.preorder()) {
    if (events[e].kind == EventKind::kUserAnnotation && perf::ParseIteration(events.name(e))) {
      out.push_back(e);
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [&](EventIndex a, EventIndex b) { return events[a].ts_ns < events[b].ts_ns; });
  return out;
}

// The innermost step above a launch; else the last that began before it, if the launch is inside:
// some servers run the model on a thread of its own.
EventIndex StepAround(const trace::EventStore& events, const tree::CallTree& tree,
                      const std::vector<EventIndex>& steps, EventIndex launch) {
  for (EventIndex up = tree.parent(launch); up != kNoEvent; up = tree.parent(up)) {
    if (events[up].kind == EventKind::kUserAnnotation && perf::ParseIteration(events.name(up))) {
      return up;
    }
  }
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), events[launch].ts_ns,
                       [&](std::int64_t ts, EventIndex step) { return ts < events[step].ts_ns; });
  if (after == steps.begin()) return kNoEvent;
  const EventIndex step = *(after - 1);
  return events[launch].end_ns() <= events[step].end_ns() ? step : kNoEvent;
}

}  // namespace

std::vector<ReplayedGraph> FindReplayedGraphs(const trace::EventStore& events,
                                              const tree::CallTree& tree) {
  const std::vector<EventIndex> steps = EngineSteps(events, tree);
  std::vector<ReplayedGraph> out;
  for (const EventIndex e : tree.preorder()) {
    if (!IsCall(events, e) || !IsGraphLaunch(events.name(e)) || tree.GpuOf(e).empty()) continue;
    ReplayedGraph replay;
    replay.launch = e;
    replay.gpu.assign(tree.GpuOf(e).begin(), tree.GpuOf(e).end());
    replay.iteration = StepAround(events, tree, steps, e);
    if (replay.iteration != kNoEvent) {
      const auto sums = perf::ParseIteration(events.name(replay.iteration));
      if (sums->batch_size > 0) replay.batch = sums->batch_size;
    }
    out.push_back(std::move(replay));
  }
  return out;
}

std::vector<std::uint32_t> AlignReplay(const trace::EventStore& replay_events,
                                       const ReplayedGraph& replay,
                                       const trace::EventStore& capture_events,
                                       const CapturedGraph& capture) {
  return Aligner(replay_events, replay, capture_events, capture).Run();
}

}  // namespace jarvis::analysis
