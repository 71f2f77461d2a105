#include "compat/tracelens_walk.h"

#include <string_view>
#include <utility>

namespace jarvis::compat {
namespace {

using trace::EventKind;

int CountSame(const TraceLensNodes& in, Node wrapper, std::string_view name) {
  int count = 0;
  std::vector<Node> waiting = {wrapper};
  while (!waiting.empty()) {
    const Node n = waiting.back();
    waiting.pop_back();
    for (const Node child : in.ChildrenOf(n)) {
      if (in.KindOf(child) != EventKind::kCpuOp) continue;
      if (in.HasGpu(child) && (name.empty() || in.NameOf(child) == name)) ++count;
      waiting.push_back(child);
    }
  }
  return count;
}

// The forward op whose backward formulas a backward op can use; else kNoEvent.
EventIndex SoleForward(TraceLensNodes& in, Node n) {
  if (in.KindOf(n) != EventKind::kCpuOp) return kNoEvent;
  const TraceLensNodes::Link link = in.LinkOf(n);
  if (link.forward == kNoEvent || !in.HasModel(link.forward)) return kNoEvent;
  const std::string_view wrapper = in.NameOf(link.node);
  const std::size_t colon = wrapper.find(": ");
  const std::string_view main =
      colon == std::string_view::npos ? std::string_view() : wrapper.substr(colon + 2);
  if (CountSame(in, link.node, main) != 1) return kNoEvent;
  // P35: by exact name only.
  const perf::OpEntry* entry = in.works().rows().FindExact(in.NameOf(link.forward));
  if (entry == nullptr || entry->row < 0) return kNoEvent;
  const perf::ModelRow& model = in.works().rows().rows()[static_cast<std::size_t>(entry->row)];
  if (model.backward_category.empty()) return kNoEvent;
  const perf::OpWork& work = in.works().WorkOf(
      model, link.forward, {{}, in.AnnotationOf(link.forward), kNoEvent, nullptr}, true);
  if (work.failure != perf::OpWork::Failure::kNone || !work.flops) return kNoEvent;
  return link.forward;
}

// T10b: below runtime calls and frames, not below driver calls.
bool IsLeaf(const TraceLensNodes& in, Node n) {
  if (in.KindOf(n) != EventKind::kCpuOp) return false;
  std::vector<std::pair<Node, int>> waiting = {{n, 0}};
  while (!waiting.empty()) {
    const auto [at, depth] = waiting.back();
    waiting.pop_back();
    if (in.GpuOfCall(at) != nullptr) return true;
    if (depth >= 10) continue;
    for (const Node child : in.ChildrenOf(at)) {
      const EventKind kind = in.KindOf(child);
      if (kind == EventKind::kRuntime || kind == EventKind::kPythonFunction) {
        waiting.emplace_back(child, depth + 1);
      }
    }
  }
  return false;
}

bool AnyCollective(const TraceLensNodes& in, Node n) {
  std::vector<Node> waiting = {n};
  while (!waiting.empty()) {
    const Node at = waiting.back();
    waiting.pop_back();
    if (const auto* gpu = in.GpuOfCall(at)) {
      for (const EventIndex kernel : *gpu) {
        if (analysis::IsCollectiveName(in.events().name(kernel))) return true;
      }
    }
    waiting.insert(waiting.end(), in.ChildrenOf(at).begin(), in.ChildrenOf(at).end());
  }
  return false;
}

}  // namespace

std::vector<CollectedNode> CollectNodes(TraceLensNodes& in, bool python_frames) {
  std::vector<CollectedNode> collected;
  std::vector<char> visited(in.size(), 0);
  std::vector<Node> waiting;
  const auto start = [&](Node root) {
    waiting.push_back(root);
    while (!waiting.empty()) {
      const Node n = waiting.back();
      waiting.pop_back();
      if (visited[n] != 0) continue;
      visited[n] = 1;
      if (!python_frames && in.KindOf(n) != EventKind::kCpuOp) continue;
      if (!in.HasGpu(n)) continue;
      if (in.IsModelled(n) || (in.KindOf(n) != EventKind::kCpuOp && in.HasModel(n))) {
        collected.push_back({n, kNoEvent});
        continue;
      }
      const auto descend = [&] {
        waiting.insert(waiting.end(), in.ChildrenOf(n).rbegin(), in.ChildrenOf(n).rend());
      };
      const EventIndex forward = SoleForward(in, n);
      if (forward != kNoEvent && !in.IsModelledBelow(n)) {
        collected.push_back({n, forward});
      } else if (in.IsModelledBelow(n)) {
        descend();
      } else if (IsLeaf(in, n)) {
        if (!AnyCollective(in, n)) collected.push_back({n, kNoEvent});
      } else {
        descend();
      }
    }
  };
  if (python_frames) {
    for (EventIndex e = 0; e < in.events().size(); ++e) {
      if (in.KindOf(e) == EventKind::kPythonFunction && in.tree().in_tree[e] != 0 &&
          in.tree().parent[e] == kNoEvent && in.HasGpu(e)) {
        start(e);
      }
    }
  }
  for (const EventIndex e : in.tree().hosts) {
    if (in.KindOf(e) != EventKind::kCpuOp || in.tree().discarded[e] != 0) continue;
    bool root = true;
    for (Node up = in.ParentOf(e); up != kNoEvent && root; up = in.ParentOf(up)) {
      root = in.KindOf(up) != EventKind::kCpuOp || in.PseudoOf(up) != nullptr;
    }
    if (root) start(e);
  }
  for (const EventIndex e : in.tree().captured_ops)
    start(e);
  return collected;
}

}  // namespace jarvis::compat
