#include "compat/tracelens_capture.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/align/graph_capture.h"
#include "base/text.h"
#include "compat/capture_roots.h"
#include "perf/iteration_annotation.h"
#include "trace/graft.h"
#include "trace/json_text.h"

namespace jarvis::compat {
namespace {

using analysis::CapturedGraph;
using analysis::ReplayedGraph;
using trace::EventKind;
using trace::EventStore;

constexpr std::string_view kFull = "FULL";
constexpr std::string_view kPiecewise = "PIECEWISE";

// An engine step, and the calls in it that replay graphs.
struct ReplayStep {
  std::int64_t batch = 0;
  std::vector<ReplayedGraph> replays;  // by start; of those that started work
};

class CaptureMerger {
 public:
  CaptureMerger(const EventStore& events, std::span<const TraceLensCapture> captures)
      : events_(events), tree_(BuildTraceLensTree(events, true)), graft_(events) {
    for (const TraceLensCapture& capture : captures)
      Take(capture);
  }

  std::optional<MergedCaptures> Run() {
    for (const ReplayStep& step : Steps())
      Merge(step);
    // T17: what was merged before is given up too.
    if (unnamed_ || merged_ == 0) return std::nullopt;
    MergedCaptures out;
    out.events = std::make_shared<const EventStore>(std::move(graft_).Take());
    std::erase_if(tree_.links, [&](const auto& link) { return replaced_.contains(link.first); });
    tree_.links.insert(tree_.links.end(), links_.begin(), links_.end());
    std::stable_sort(tree_.hosts.begin(), tree_.hosts.end(),
                     [&](EventIndex a, EventIndex b) { return tree_.ts[a] < tree_.ts[b]; });
    out.tree = std::move(tree_);
    return out;
  }

 private:
  // A later file for the same rows and mode counts.
  void Take(TraceLensCapture capture) {
    if (!capture.listed) ClassifyCapture(&capture);
    // T19: the modes of annotations are none of these.
    if (!capture.batch || (capture.mode != kFull && capture.mode != kPiecewise)) return;
    files_[*capture.batch][capture.mode] = capture.events;
  }

  std::vector<EventIndex> Annotations() const {
    std::vector<EventIndex> detailed, other;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (events_[e].kind != EventKind::kUserAnnotation) continue;
      const auto sums = perf::ParseIteration(events_.name(e));
      if (!sums) continue;
      (sums->format.ends_with("_detailed") ? detailed : other).push_back(e);
    }
    std::vector<EventIndex>& roots = detailed.empty() ? other : detailed;
    std::stable_sort(roots.begin(), roots.end(),
                     [&](EventIndex a, EventIndex b) { return tree_.ts[a] < tree_.ts[b]; });
    return roots;
  }

  std::vector<ReplayStep> Steps() const {
    std::unordered_map<EventIndex, std::vector<EventIndex>> gpu_of;
    for (const auto& [call, gpu] : tree_.links) {
      if (ContainsNoCase(events_.name(call), "graphlaunch")) gpu_of[call].push_back(gpu);
    }
    std::vector<EventIndex> launches;
    for (const auto& [call, gpu] : gpu_of)
      launches.push_back(call);
    std::sort(launches.begin(), launches.end(), [&](EventIndex a, EventIndex b) {
      return std::pair(tree_.ts[a], a) < std::pair(tree_.ts[b], b);
    });
    std::vector<ReplayStep> steps;
    for (const EventIndex root : Annotations()) {
      ReplayStep step;
      step.batch = perf::ParseIteration(events_.name(root))->batch_size;
      for (const EventIndex launch : launches) {
        if (tree_.ts[launch] < tree_.ts[root] || tree_.end[launch] > tree_.end[root]) continue;
        ReplayedGraph replay;
        replay.launch = launch;
        replay.gpu = gpu_of.at(launch);
        std::stable_sort(replay.gpu.begin(), replay.gpu.end(),
                         [&](EventIndex a, EventIndex b) { return tree_.ts[a] < tree_.ts[b]; });
        step.replays.push_back(std::move(replay));
      }
      if (!step.replays.empty()) steps.push_back(std::move(step));
    }
    return steps;
  }

  // The smallest capture that has room for the step; null: there is none.
  const EventStore* FileFor(const ReplayStep& step) const {
    const auto found = files_.lower_bound(step.batch);
    if (found == files_.end()) return nullptr;
    const std::map<std::string, const EventStore*, std::less<>>& modes = found->second;
    const auto piecewise = modes.find(kPiecewise);
    const auto full = modes.find(kFull);
    if (full == modes.end()) return piecewise->second;
    if (piecewise == modes.end()) return full->second;
    return step.replays.size() == 1 ? full->second : piecewise->second;
  }

  const std::vector<CaptureRoot>& RootsOf(const EventStore* capture) {
    const auto [found, added] = roots_.try_emplace(capture);
    if (added) found->second = FindCaptureRoots(*capture);
    return found->second;
  }

  void Merge(const ReplayStep& step) {
    const EventStore* capture = FileFor(step);
    if (capture == nullptr) return;
    const std::vector<CaptureRoot>& roots = RootsOf(capture);
    if (roots.size() != 1 && roots.size() != step.replays.size()) return;
    for (std::size_t i = 0; i < step.replays.size(); ++i) {
      const ReplayedGraph& replay = step.replays[i];
      if (replaced_.contains(replay.launch)) continue;
      const CaptureRoot& root = roots[roots.size() == 1 ? 0 : i];
      if (Unnamed(replay, *capture, root.graph)) {
        unnamed_ = true;
        continue;
      }
      const auto places = analysis::AlignReplay(events_, replay, *capture, root.graph, kAnySurplus);
      if (!places.empty()) Hang(replay, *capture, root, places);
    }
  }

  static constexpr double kAnySurplus = 1e9;

  // Kernels on several streams whose capture does not name them all.
  bool Unnamed(const ReplayedGraph& replay, const EventStore& capture,
               const CapturedGraph& graph) const {
    const auto stream = [&](EventIndex gpu) { return events_.args_of(gpu).stream; };
    const bool several = std::any_of(replay.gpu.begin(), replay.gpu.end(), [&](EventIndex gpu) {
      return stream(gpu) != stream(replay.gpu.front());
    });
    for (std::size_t i = 0; several && i < graph.launches.size(); ++i) {
      const std::string_view call = capture.name(graph.launches[i]);
      const bool copies = ContainsNoCase(call, "memcpy") || ContainsNoCase(call, "memset");
      if (!copies && graph.kernels[i].empty()) return true;
    }
    return false;
  }

  void Hang(const ReplayedGraph& replay, const EventStore& capture, const CaptureRoot& root,
            const std::vector<std::uint32_t>& places) {
    const EventIndex top =
        AddNode(graft_.AddCallDuring(replay.launch, "CaptureRoot"), replay.launch, replay.launch);
    std::unordered_map<EventIndex, EventIndex> copies;
    for (const auto& [event, parent] : root.subtree) {
      const EventIndex above = parent == kNoEvent ? top : copies.at(parent);
      copies[event] =
          AddNode(graft_.AddDuring(replay.launch, capture, event), above, replay.launch);
    }
    for (std::size_t i = 0; i < replay.gpu.size(); ++i) {
      const EventIndex launch = copies.at(root.graph.launches[places[i]]);
      tree_.parent[replay.gpu[i]] = launch;
      links_.emplace_back(launch, replay.gpu[i]);
    }
    replaced_.emplace(replay.launch, true);
    ++merged_;
  }

  EventIndex AddNode(EventIndex added, EventIndex parent, EventIndex launch) {
    tree_.parent.push_back(parent);
    tree_.in_tree.push_back(1);
    // It is no root, even where nothing above it is an op.
    tree_.discarded.push_back(1);
    tree_.ts.push_back(tree_.ts[launch]);
    tree_.end.push_back(tree_.end[launch]);
    tree_.hosts.push_back(added);
    return added;
  }

  const EventStore& events_;
  TraceLensTree tree_;
  trace::Graft graft_;
  std::map<std::int64_t, std::map<std::string, const EventStore*, std::less<>>> files_;
  std::map<const EventStore*, std::vector<CaptureRoot>> roots_;
  std::vector<std::pair<EventIndex, EventIndex>> links_;
  std::unordered_map<EventIndex, bool> replaced_;  // launches whose work hangs elsewhere now
  std::size_t merged_ = 0;
  bool unnamed_ = false;
};

// The most frequent first element of the sizes of all operands; the first seen of equals.
std::optional<std::int64_t> UsualFirstSize(const EventStore& events) {
  std::unordered_map<std::int64_t, std::size_t> count;
  std::vector<std::int64_t> order;
  for (EventIndex e = 0; e < events.size(); ++e) {
    if (TraceLensKind(events, e) != EventKind::kCpuOp) continue;
    for (const std::string_view operand : trace::ElementsOf(events.text(events.args_of(e).dims))) {
      const auto sizes = trace::ElementsOf(operand);
      const auto first = sizes.empty() ? std::nullopt : trace::IntegerOf(sizes.front());
      if (first && ++count[*first] == 1) order.push_back(*first);
    }
  }
  std::optional<std::int64_t> best;
  for (const std::int64_t size : order) {
    if (!best || count[size] > count[*best]) best = size;
  }
  return best;
}

bool IsDummyRun(std::string_view name) {
  constexpr std::string_view kFile = "vllm/v1/worker/gpu_model_runner.py(";
  if (!name.starts_with(kFile)) return false;
  name.remove_prefix(kFile.size());
  const std::size_t digits = name.find_first_not_of("0123456789");
  return digits > 0 && digits != std::string_view::npos &&
         name.substr(digits).starts_with("): _dummy_run");
}

}  // namespace

void ClassifyCapture(TraceLensCapture* capture) {
  const EventStore& events = *capture->events;
  std::size_t runs = 0, annotations = 0, begins = 0;
  std::optional<perf::CaptureName> first;
  for (EventIndex e = 0; e < events.size(); ++e) {
    const std::string_view name = events.name(e);
    switch (TraceLensKind(events, e)) {
      case EventKind::kPythonFunction: runs += IsDummyRun(name) ? 1u : 0u; break;
      case EventKind::kRuntime:
        begins += name.find("StreamBeginCapture") != std::string_view::npos ? 1u : 0u;
        break;
      case EventKind::kUserAnnotation:
        if (const auto parsed = perf::ParseCapture(name)) {
          ++annotations;
          if (!first) first = parsed;
        }
        break;
      default: break;
    }
  }
  if (first && runs == annotations) {
    capture->batch = first->batch_size;
    capture->mode = std::string(first->mode);
    return;
  }
  capture->mode = begins <= 1 ? kFull : kPiecewise;
  capture->batch = UsualFirstSize(events);
}

std::optional<MergedCaptures> MergeCaptures(const EventStore& events,
                                            std::span<const TraceLensCapture> captures) {
  if (captures.empty()) return std::nullopt;
  return CaptureMerger(events, captures).Run();
}

}  // namespace jarvis::compat
