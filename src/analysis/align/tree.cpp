#include "analysis/align/tree.h"

#include <algorithm>
#include <map>

#include "analysis/align/names.h"

namespace jarvis::analysis {

using trace::EventKind;

DiffNames::Ids DiffNames::Of(std::string_view name) {
  const StringId raw = raw_.Intern(name);
  if (raw == ids_.size()) {
    ids_.push_back({pool_.Intern(rule_(name)), pool_.Intern(StrippedDiffName(name))});
  }
  return ids_[raw];
}

std::vector<EventIndex> DiffTree::GpuBelow(DiffIndex n) const {
  const auto first = std::lower_bound(gpu.begin(), gpu.end(), n);
  const auto last = std::lower_bound(first, gpu.end(), nodes[n].end);
  std::vector<std::uint32_t> places;
  for (auto leaf = first; leaf != last; ++leaf)
    places.push_back(static_cast<std::uint32_t>(leaf - gpu.begin()));
  if (!gpu_rank.empty()) {
    std::sort(places.begin(), places.end(),
              [&](std::uint32_t a, std::uint32_t b) { return gpu_rank[a] < gpu_rank[b]; });
  }
  std::vector<EventIndex> out;
  out.reserve(places.size());
  for (const std::uint32_t place : places)
    out.push_back(nodes[gpu[place]].event);
  return out;
}

DiffChildren GroupByParent(std::size_t events,
                           std::span<const std::pair<EventIndex, EventIndex>> edges) {
  DiffChildren out;
  out.begin.assign(events + 1, 0);
  for (const auto& [parent, child] : edges)
    ++out.begin[parent + 1];
  for (std::size_t e = 0; e < events; ++e)
    out.begin[e + 1] += out.begin[e];
  out.list.resize(edges.size());
  std::vector<std::uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  for (const auto& [parent, child] : edges)
    out.list[next[parent]++] = child;
  return out;
}

DiffTreeBuilder::DiffTreeBuilder(const EventStore& events, DiffNames& names, KindOf kind)
    : names_(names), kind_(std::move(kind)) {
  tree_.events = &events;
}

DiffIndex DiffTreeBuilder::Add(EventIndex event, std::string_view name, DiffKind kind) {
  const auto at = static_cast<DiffIndex>(tree_.nodes.size());
  const DiffNames::Ids ids = names_.Of(name);
  const DiffIndex parent = open_.empty() ? kNoDiffNode : open_.back();
  tree_.nodes.push_back(
      {event, parent, at + 1, 0, 0, ids.name, ids.stripped, kind, kind == DiffKind::kGpu});
  if (parent == kNoDiffNode) tree_.roots.push_back(at);
  if (kind == DiffKind::kGpu) tree_.gpu.push_back(at);
  return at;
}

void DiffTreeBuilder::OpenGroup(std::string_view name) {
  open_.push_back(Add(kNoEvent, name, DiffKind::kFrame));
}

void DiffTreeBuilder::Close() {
  tree_.nodes[open_.back()].end = static_cast<DiffIndex>(tree_.nodes.size());
  open_.pop_back();
}

DiffIndex DiffTreeBuilder::AddSubtree(EventIndex root, const DiffChildren& children) {
  const std::size_t outer = open_.size();
  const auto top = static_cast<DiffIndex>(tree_.nodes.size());
  constexpr EventIndex kClose = kNoEvent;
  std::vector<EventIndex> waiting = {root};
  while (!waiting.empty()) {
    const EventIndex e = waiting.back();
    waiting.pop_back();
    if (e == kClose) {
      Close();
      continue;
    }
    const DiffIndex node = Add(e, tree_.events->name(e), kind_(e));
    const auto below = children.Of(e);
    if (below.empty()) continue;
    open_.push_back(node);
    waiting.push_back(kClose);
    waiting.insert(waiting.end(), below.rbegin(), below.rend());
  }
  open_.resize(outer);
  return top;
}

DiffTree DiffTreeBuilder::Finish() {
  std::vector<DiffNode>& nodes = tree_.nodes;
  for (std::size_t n = nodes.size(); n-- > 0;) {
    if (nodes[n].gpu_path && nodes[n].parent != kNoDiffNode) {
      nodes[nodes[n].parent].gpu_path = true;
    }
  }
  // Counted, then placed: siblings stand in the order of the nodes.
  for (const DiffNode& node : nodes) {
    if (node.parent != kNoDiffNode) ++nodes[node.parent].children_end;
  }
  std::uint32_t at = 0;
  for (DiffNode& node : nodes) {
    const std::uint32_t count = node.children_end;
    node.children_begin = at;
    node.children_end = at;
    at += count;
  }
  tree_.children.resize(at);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].parent == kNoDiffNode) continue;
    tree_.children[nodes[nodes[n].parent].children_end++] = static_cast<DiffIndex>(n);
  }
  return std::move(tree_);
}

DiffTree MakeDiffTree(const EventStore& events, const tree::CallTree& tree, DiffNames& names) {
  // The nearest event around one that is no call of the runtime.
  const auto parent_of = [&](EventIndex e) {
    EventIndex up = tree.parent(e);
    while (up != kNoEvent && trace::IsLaunchCall(events[up].kind))
      up = tree.parent(up);
    return up;
  };
  const auto has_gpu = [&](EventIndex e) { return !tree.GpuBelow(e).empty(); };
  std::vector<std::pair<EventIndex, EventIndex>> edges;
  std::map<std::uint32_t, std::vector<EventIndex>> threads;  // roots by track
  for (const EventIndex e : tree.preorder()) {
    const EventIndex parent = parent_of(e);
    const auto hang = [&](EventIndex child) {
      if (parent == kNoEvent) {
        threads[events[e].track].push_back(child);
      } else {
        edges.emplace_back(parent, child);
      }
    };
    if (trace::IsLaunchCall(events[e].kind)) {
      for (const EventIndex gpu : tree.GpuOf(e))
        hang(gpu);
      continue;
    }
    if (has_gpu(e) || (parent != kNoEvent && has_gpu(parent))) hang(e);
    for (const EventIndex gpu : tree.GpuOf(e))
      edges.emplace_back(e, gpu);
  }
  const DiffChildren children = GroupByParent(events.size(), edges);
  DiffTreeBuilder builder(events, names, [&](EventIndex e) {
    if (trace::IsGpuWork(events[e].kind)) return DiffKind::kGpu;
    return events[e].kind == EventKind::kCpuOp ? DiffKind::kOp : DiffKind::kFrame;
  });
  builder.OpenGroup("(trace)");
  for (const auto& [track, roots] : threads) {
    builder.OpenGroup("(thread)");
    for (const EventIndex root : roots)
      builder.AddSubtree(root, children);
    builder.Close();
  }
  builder.Close();
  return builder.Finish();
}

}  // namespace jarvis::analysis
