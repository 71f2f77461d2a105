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

std::vector<std::uint32_t> ByName(const trace::EventStore& replay_events,
                                  const ReplayedGraph& replay, const CapturedGraph& capture) {
  std::map<std::string_view, std::vector<std::uint32_t>> launches;
  for (std::uint32_t i = 0; i < capture.kernels.size(); ++i)
    launches[capture.kernels[i]].push_back(i);
  std::map<std::string_view, std::size_t> taken;
  std::vector<std::uint32_t> out;
  for (const EventIndex gpu : replay.gpu) {
    const auto found = launches.find(replay_events.name(gpu));
    if (found == launches.end()) return {};
    const std::size_t at = taken[found->first]++;
    if (at >= found->second.size()) return {};
    out.push_back(found->second[at]);
  }
  return out;
}

}  // namespace

std::vector<CapturedGraph> FindCapturedGraphs(const trace::EventStore& events,
                                              const tree::CallTree& tree) {
  return CaptureFinder(events, tree).Run();
}

std::vector<ReplayedGraph> FindReplayedGraphs(const trace::EventStore& events,
                                              const tree::CallTree& tree) {
  std::vector<ReplayedGraph> out;
  for (const EventIndex e : tree.preorder()) {
    if (!IsCall(events, e) || !IsGraphLaunch(events.name(e)) || tree.GpuOf(e).empty()) continue;
    ReplayedGraph replay;
    replay.launch = e;
    replay.gpu.assign(tree.GpuOf(e).begin(), tree.GpuOf(e).end());
    for (EventIndex up = tree.parent(e); up != kNoEvent; up = tree.parent(up)) {
      if (events[up].kind != EventKind::kUserAnnotation) continue;
      const auto sums = perf::ParseIteration(events.name(up));
      if (!sums) continue;
      replay.iteration = up;
      if (sums->batch_size > 0) replay.batch = sums->batch_size;
      break;
    }
    out.push_back(std::move(replay));
  }
  return out;
}

std::vector<std::uint32_t> AlignReplay(const trace::EventStore& replay_events,
                                       const ReplayedGraph& replay,
                                       const trace::EventStore& capture_events,
                                       const CapturedGraph& capture) {
  if (replay.gpu.size() != capture.launches.size()) return {};
  const bool named = std::any_of(capture.kernels.begin(), capture.kernels.end(),
                                 [](const std::string& name) { return !name.empty(); });
  if (!named) {
    const std::int64_t stream = replay_events.args_of(replay.gpu.front()).stream;
    const bool one_stream = std::all_of(replay.gpu.begin(), replay.gpu.end(), [&](EventIndex gpu) {
      return replay_events.args_of(gpu).stream == stream;
    });
    if (!one_stream) return {};
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < replay.gpu.size(); ++i) {
    if (!Agrees(replay_events, replay.gpu[i], capture_events, capture.launches[i],
                capture.kernels[i])) {
      return named ? ByName(replay_events, replay, capture) : std::vector<std::uint32_t>();
    }
    out.push_back(i);
  }
  return out;
}

}  // namespace jarvis::analysis
