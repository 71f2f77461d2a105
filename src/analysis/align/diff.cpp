#include "analysis/align/diff.h"

#include <algorithm>

#include "analysis/attribution/module_paths.h"
#include "analysis/tables/summary.h"
#include "base/check.h"

namespace jarvis::analysis {
namespace {

// "a.py(12): f" -> "a.py: f".
std::string WithoutPlaces(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '(') {
      const std::size_t end = name.find_first_not_of("0123456789", i + 1);
      if (end != std::string_view::npos && end > i + 1 && name[end] == ')') {
        i = end;
        continue;
      }
    }
    out += name[i];
  }
  return out;
}

class Grouper {
 public:
  explicit Grouper(TraceDiff& diff) : diff_(diff), nodes_(diff.merged.nodes) {}

  void Run() {
    std::vector<char> grouped(nodes_.size(), 0);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const MergedNode& node = nodes_[n];
      if (!node.combined()) {
        const bool top = node.parent == kNoMerged || nodes_[node.parent].combined();
        if (top && grouped[n] == 0) AddChild(n);
        continue;
      }
      const bool gpu[2] = {OnPath(0, node.a), OnPath(1, node.b)};
      if (diff_.rules.both_sides_have_gpu_work ? !(gpu[0] && gpu[1]) : !(gpu[0] || gpu[1])) {
        continue;
      }
      const bool kernels = IsGpu(0, node.a) && IsGpu(1, node.b);
      const std::vector<std::uint32_t> alone = ChildrenOfOneSide(n);
      if (alone.empty() && !kernels) continue;
      DiffGroup group;
      group.lca = n;
      for (const std::uint32_t child : alone) {
        grouped[child] = 1;
        const int side = nodes_[child].a != kNoDiffNode ? 0 : 1;
        Append(side, At(child, side), &group);
      }
      for (const int side : {0, 1}) {
        if (IsGpu(side, At(n, side))) Append(side, At(n, side), &group);
      }
      Add(std::move(group));
    }
    DiffGroup unlinked;
    unlinked.unlinked = true;
    for (const int side : {0, 1})
      unlinked.gpu[side] = diff_.sides[side].unlinked;
    Add(std::move(unlinked));
  }

 private:
  DiffIndex At(std::uint32_t n, int side) const { return side == 0 ? nodes_[n].a : nodes_[n].b; }
  bool IsGpu(int side, DiffIndex n) const { return diff_.sides[side].tree.IsGpu(n); }
  bool OnPath(int side, DiffIndex n) const { return diff_.sides[side].tree.nodes[n].gpu_path; }

  // The children that only one of the traces has, with GPU work.
  std::vector<std::uint32_t> ChildrenOfOneSide(std::uint32_t parent) const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t n = parent + 1; n < nodes_[parent].end; n = nodes_[n].end) {
      if (nodes_[n].combined()) continue;
      const int side = nodes_[n].a != kNoDiffNode ? 0 : 1;
      if (OnPath(side, At(n, side))) out.push_back(n);
    }
    return out;
  }

  void Append(int side, DiffIndex n, DiffGroup* group) const {
    const std::vector<EventIndex> below = diff_.sides[side].tree.GpuBelow(n);
    group->gpu[side].insert(group->gpu[side].end(), below.begin(), below.end());
  }

  // A call of one trace whose parent is no place where both have GPU work.
  void AddChild(std::uint32_t n) {
    const int side = nodes_[n].a != kNoDiffNode ? 0 : 1;
    DiffGroup group;
    group.lca = nodes_[n].parent;
    Append(side, At(n, side), &group);
    Add(std::move(group));
  }

  void Add(DiffGroup group) {
    if (group.gpu[0].empty() && group.gpu[1].empty()) return;
    for (const int side : {0, 1}) {
      group.busy_us[side] = BusyUs(*diff_.sides[side].events, group.gpu[side], diff_.clock);
    }
    diff_.groups.push_back(std::move(group));
  }

  TraceDiff& diff_;
  const std::vector<MergedNode>& nodes_;
};

}  // namespace

std::string TraceDiff::NameOf(int side, DiffIndex n) const {
  const DiffTree& tree = sides[side].tree;
  const EventIndex e = tree.nodes[n].event;
  if (e != kNoEvent) return std::string(sides[side].events->name(e));
  return tree.nodes[n].parent == kNoDiffNode ? "(trace)" : "(thread)";
}

std::string TraceDiff::NameOfMerged(std::uint32_t n) const {
  const MergedNode& node = merged.nodes[n];
  const std::string a = node.a == kNoDiffNode ? "" : WithoutPlaces(NameOf(0, node.a));
  const std::string b = node.b == kNoDiffNode ? "" : WithoutPlaces(NameOf(1, node.b));
  return a == b || b.empty() ? a : a.empty() ? b : a + " | " + b;
}

std::string TraceDiff::LcaName(const DiffGroup& group) const {
  if (group.lca != kNoMerged) return NameOfMerged(group.lca);
  return group.unlinked ? "(unlinked)" : "(no common call)";
}

std::uint32_t TraceDiff::PlaceOf(const DiffGroup& group) const {
  JV_CHECK(group.lca < merged.nodes.size());
  const MergedNode& node = merged.nodes[group.lca];
  if (node.parent == kNoMerged || node.a == kNoDiffNode || !sides[0].tree.IsGpu(node.a)) {
    return group.lca;
  }
  const DiffIndex above = merged.nodes[node.parent].a;
  const bool op = above != kNoDiffNode && sides[0].tree.nodes[above].kind == DiffKind::kOp;
  return op ? node.parent : group.lca;
}

std::string TraceDiff::PlaceName(const DiffGroup& group) const {
  if (group.lca == kNoMerged) return LcaName(group);
  const std::uint32_t place = PlaceOf(group);
  const MergedNode& node = merged.nodes[place];
  if (node.a != kNoDiffNode && sides[0].tree.IsGpu(node.a)) {
    return ShortKernelName(NameOf(0, node.a));
  }
  return NameOfMerged(place);
}

Status AlignTraces(TraceDiff* diff, Job& job) {
  const int first = diff->rules.second_first ? 1 : 0;
  JV_ASSIGN(diff->merged,
            MergeTrees(diff->sides[first].tree, diff->sides[1 - first].tree, diff->rules, job));
  if (first == 1) {
    for (MergedNode& node : diff->merged.nodes)
      std::swap(node.a, node.b);
  }
  Grouper(*diff).Run();
  return job.Check();
}

std::vector<std::string> DiffModules(const DiffSide& side, EventIndex e) {
  std::vector<std::string> out;
  for (EventIndex up = e == kNoEvent ? e : side.caller(e); up != kNoEvent; up = side.caller(up)) {
    const std::string_view name = side.events->name(up);
    if (name.starts_with("nn.Module:")) out.push_back(FoldedName(name));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace jarvis::analysis
