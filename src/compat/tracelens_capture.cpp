#include "compat/tracelens_capture.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/align/graph_capture.h"
#include "base/text.h"
#include "compat/capture_alignment.h"
#include "compat/capture_roots.h"
#include "perf/iteration_annotation.h"
#include "trace/graft.h"
#include "trace/json_text.h"

namespace jarvis::compat {
namespace {

using analysis::ReplayedGraph;
using trace::EventKind;
using trace::EventStore;

constexpr std::string_view kFull = "FULL";
constexpr std::string_view kPiecewise = "PIECEWISE";

// An engine step, and the calls in it that replay graphs.
struct ReplayStep {
  std::int64_t batch = 0;
  std::vector<ReplayedGraph> replays;  // by start
};

class CaptureMerger {
 public:
  CaptureMerger(const EventStore& events, std::span<const TraceLensCapture> captures)
      : events_(events), tree_(BuildTraceLensTree(events, true)) {
    for (const TraceLensCapture& capture : captures)
      Take(capture);
  }

  std::optional<MergedCaptures> Run() {
    for (const ReplayStep& step : Steps())
      Merge(step);
    // T17: what was merged before is given up too.
    if (unnamed_) return std::nullopt;
    MergedCaptures out;
    if (graft_) TakeMerged(&out);
    out.tree = std::move(tree_);
    return out;
  }

 private:
  void TakeMerged(MergedCaptures* out) {
    out->events = std::make_shared<const EventStore>(std::move(*graft_).Take());
    tree_.listed = tree_.links;
    std::erase_if(tree_.links, [&](const auto& link) { return replaced_.contains(link.first); });
    for (auto* links : {&tree_.listed, &tree_.links})
      links->insert(links->end(), links_.begin(), links_.end());
    std::stable_sort(tree_.hosts.begin(), tree_.hosts.end(),
                     [&](EventIndex a, EventIndex b) { return tree_.ts[a] < tree_.ts[b]; });
  }

  // A later file for the same rows and mode counts.
  void Take(TraceLensCapture capture) {
    if (!capture.listed) ClassifyCapture(&capture);
    // T19: the modes of annotations are none of these.
    if (!capture.batch || (capture.mode != kFull && capture.mode != kPiecewise)) return;
    // A file that is not there takes the place of larger ones all the same.
    auto& modes = files_[*capture.batch];
    if (capture.events != nullptr) modes[capture.mode] = capture.events;
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
    SortByStart(&roots);
    return roots;
  }

  void SortByStart(std::vector<EventIndex>* list) const {
    std::stable_sort(list->begin(), list->end(),
                     [&](EventIndex a, EventIndex b) { return tree_.ts[a] < tree_.ts[b]; });
  }

  // Calls that started nothing are counted with the others.
  std::vector<ReplayedGraph> Replays() const {
    std::vector<EventIndex> launches;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (trace::IsLaunchCall(events_[e].kind) && ContainsNoCase(events_.name(e), "graphlaunch")) {
        launches.push_back(e);
      }
    }
    SortByStart(&launches);
    std::vector<ReplayedGraph> replays(launches.size());
    std::unordered_map<EventIndex, ReplayedGraph*> replay_of;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      replays[i].launch = launches[i];
      replay_of.emplace(launches[i], &replays[i]);
    }
    for (const auto& [call, gpu] : tree_.links) {
      const auto found = replay_of.find(call);
      if (found != replay_of.end()) found->second->gpu.push_back(gpu);
    }
    for (ReplayedGraph& replay : replays)
      SortByStart(&replay.gpu);
    return replays;
  }

  std::vector<ReplayStep> Steps() const {
    const std::vector<ReplayedGraph> replays = Replays();
    std::vector<ReplayStep> steps;
    for (const EventIndex root : Annotations()) {
      ReplayStep step;
      step.batch = perf::ParseIteration(events_.name(root))->batch_size;
      auto replay = std::lower_bound(
          replays.begin(), replays.end(), tree_.ts[root],
          [&](const ReplayedGraph& one, double ts) { return tree_.ts[one.launch] < ts; });
      for (; replay != replays.end() && tree_.ts[replay->launch] <= tree_.end[root]; ++replay) {
        if (tree_.end[replay->launch] <= tree_.end[root]) step.replays.push_back(*replay);
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
    if (modes.empty()) return nullptr;
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
      if (replay.gpu.empty() || replaced_.contains(replay.launch)) continue;
      const CaptureRoot& root = roots[roots.size() == 1 ? 0 : i];
      if (RunsOnSeveralStreams(events_, replay) && !NamesItsKernels(*capture, root.graph)) {
        unnamed_ = true;
        continue;
      }
      const auto pairs = PairLikeTraceLens(events_, replay, *capture, root.graph);
      if (!pairs.empty()) Hang(replay, *capture, root, pairs);
    }
  }

  void Hang(const ReplayedGraph& replay, const EventStore& capture, const CaptureRoot& root,
            const std::vector<CapturedPair>& pairs) {
    if (!graft_) graft_.emplace(events_);
    const EventIndex top =
        AddNode(graft_->AddCallDuring(replay.launch, "CaptureRoot"), replay.launch, replay.launch);
    std::unordered_map<EventIndex, EventIndex> copies;
    for (const auto& [event, parent] : root.subtree) {
      const EventIndex above = parent == kNoEvent ? top : copies.at(parent);
      copies[event] =
          AddNode(graft_->AddDuring(replay.launch, capture, event), above, replay.launch);
    }
    for (const EventIndex op : root.ops)
      tree_.captured_ops.push_back(copies.at(op));
    for (const auto& [gpu, launch] : pairs) {
      tree_.parent[gpu] = copies.at(launch);
      links_.emplace_back(copies.at(launch), gpu);
    }
    replaced_.insert(replay.launch);
  }

  EventIndex AddNode(EventIndex added, EventIndex parent, EventIndex launch) {
    tree_.parent.push_back(parent);
    tree_.in_tree.push_back(1);
    // It is no root of the recording; `captured_ops` are started from by themselves.
    tree_.discarded.push_back(1);
    tree_.ts.push_back(tree_.ts[launch]);
    tree_.end.push_back(tree_.end[launch]);
    tree_.hosts.push_back(added);
    return added;
  }

  const EventStore& events_;
  TraceLensTree tree_;
  std::optional<trace::Graft> graft_;  // once something is added
  std::map<std::int64_t, std::map<std::string, const EventStore*, std::less<>>> files_;
  std::map<const EventStore*, std::vector<CaptureRoot>> roots_;
  std::vector<std::pair<EventIndex, EventIndex>> links_;
  std::unordered_set<EventIndex> replaced_;  // launches whose work hangs elsewhere now
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
