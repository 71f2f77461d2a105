#include "compat/tracelens_diff.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/align/names.h"
#include "base/text.h"

namespace jarvis::compat {
namespace {

using analysis::DiffIndex;
using analysis::DiffKind;
using analysis::DiffTree;
using trace::EventKind;
using trace::EventStore;

bool IsGraphLaunch(std::string_view name) {
  return name == "cudaGraphLaunch" || name == "hipGraphLaunch";
}

DiffKind KindOf(const EventStore& events, EventIndex e) {
  const EventKind kind = TraceLensKind(events, e);
  if (trace::IsGpuWork(kind)) return DiffKind::kGpu;
  if (kind == EventKind::kCpuOp) return DiffKind::kOp;
  if (!trace::IsLaunchCall(kind)) return DiffKind::kFrame;
  return IsGraphLaunch(events.name(e)) ? DiffKind::kGraphLaunch : DiffKind::kLaunch;
}

// The outermost callers of the ops that no op calls, by the first such op.
std::vector<EventIndex> Tops(const EventStore& events, const TraceLensTree& tree) {
  std::vector<EventIndex> out;
  std::set<EventIndex> seen;
  // Of callers that were passed: the outermost, kNoEvent where an op is on the way.
  std::unordered_map<EventIndex, EventIndex> known;
  std::vector<EventIndex> passed;
  const auto climb = [&](EventIndex e) {
    EventIndex top = e;
    passed.clear();
    for (EventIndex up = tree.parent[e]; up != kNoEvent; up = tree.parent[up]) {
      const auto found = known.find(up);
      if (found != known.end()) {
        top = found->second;
        break;
      }
      passed.push_back(up);
      top = TraceLensKind(events, up) == EventKind::kCpuOp ? kNoEvent : up;
      if (top == kNoEvent) break;
    }
    for (const EventIndex up : passed)
      known.emplace(up, top);
    if (top != kNoEvent && seen.insert(top).second) out.push_back(top);
  };
  for (const EventIndex e : tree.hosts) {
    if (tree.discarded[e] == 0 && TraceLensKind(events, e) == EventKind::kCpuOp) climb(e);
  }
  for (const EventIndex e : tree.captured_ops)
    climb(e);
  return out;
}

// Parent and child, siblings by start; of host events those around GPU work, and their children.
std::vector<std::pair<EventIndex, EventIndex>> Edges(const EventStore& events,
                                                     const TraceLensTree& tree) {
  std::vector<char> has_gpu(events.size(), 0);
  for (const auto& [call, gpu] : tree.links) {
    for (EventIndex up = call; up != kNoEvent && has_gpu[up] == 0; up = tree.parent[up])
      has_gpu[up] = 1;
  }
  std::vector<std::pair<EventIndex, EventIndex>> edges;
  for (const EventIndex e : tree.hosts) {
    const EventIndex parent = tree.parent[e];
    if (parent != kNoEvent && has_gpu[parent] != 0) edges.emplace_back(parent, e);
  }
  edges.insert(edges.end(), tree.links.begin(), tree.links.end());
  return edges;
}

// P24: the children of the last frame that is alone on its way down become those of the root.
void Rewire(const EventStore& events, DiffIndex top, DiffTree* tree) {
  DiffIndex at = top;
  for (auto children = tree->ChildrenOf(at); children.size() == 1;
       children = tree->ChildrenOf(at)) {
    const DiffKind kind = KindOf(events, tree->nodes[children.front()].event);
    if (kind == DiffKind::kOp || kind == DiffKind::kLaunch) break;
    at = children.front();
  }
  tree->nodes[top].children_begin = tree->nodes[at].children_begin;
  tree->nodes[top].children_end = tree->nodes[at].children_end;
}

// What the rows of one LCA in diff_stats say, by side: absent if it has none there.
struct LcaTimes {
  std::string name;
  std::optional<double> us[2];
};

}  // namespace

DiffTree MakeTraceLensDiffTree(const EventStore& events, const TraceLensTree& tree,
                               analysis::DiffNames& names) {
  const auto edges = Edges(events, tree);
  const analysis::DiffChildren children = analysis::GroupByParent(events.size(), edges);
  analysis::DiffTreeBuilder builder(events, names, [&](EventIndex e) { return KindOf(events, e); });
  for (const EventIndex top : Tops(events, tree))
    builder.AddSubtree(top, children);
  DiffTree out = builder.Finish();
  for (const analysis::DiffNode& node : out.nodes)
    out.start.push_back(tree.ts[node.event]);
  // GPU work below a node is listed in the order in which its launches stand in the file.
  std::unordered_map<std::uint64_t, std::uint32_t> link;
  const auto key = [](EventIndex call, EventIndex gpu) {
    return (std::uint64_t{call} << 32) | gpu;
  };
  for (std::uint32_t i = 0; i < tree.links.size(); ++i)
    link.emplace(key(tree.links[i].first, tree.links[i].second), i);
  for (const DiffIndex leaf : out.gpu) {
    const analysis::DiffNode& node = out.nodes[leaf];
    out.gpu_rank.push_back(link.at(key(out.nodes[node.parent].event, node.event)));
  }
  for (const DiffIndex root : out.roots)
    Rewire(events, root, &out);
  return out;
}

analysis::DiffSide TraceLensDiffSide(const EventStore& events, const TraceLensTree& tree,
                                     analysis::DiffNames& names) {
  analysis::DiffSide side;
  side.events = &events;
  side.tree = MakeTraceLensDiffTree(events, tree, names);
  side.op_of = [&events, &tree](EventIndex e) {
    EventIndex up = tree.parent[e];
    while (up != kNoEvent && TraceLensKind(events, up) != EventKind::kCpuOp)
      up = tree.parent[up];
    return up;
  };
  side.caller = [&tree](EventIndex e) { return tree.parent[e]; };
  return side;
}

analysis::DiffNames TraceLensDiffNames() {
  return analysis::DiffNames(&analysis::DiffName);
}

analysis::DiffRules TraceLensDiffRules() {
  analysis::DiffRules rules;
  rules.pair_equal_lists_by_position = true;
  rules.both_sides_have_gpu_work = true;
  rules.limits.cells_max = std::uint64_t{1} << 28;  // the reference knows no limit
  return rules;
}

Table TraceLensDiffStats(const analysis::TraceDiff& diff) {
  Table table = analysis::DiffStats(diff, {.only_with_op = true, .rounded = true});
  if (!analysis::DiffIsEmpty(table)) return table;
  const auto source = std::find(table.columns.begin(), table.columns.end(), "source");
  const auto at = source - table.columns.begin();
  table.columns.erase(source);
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    return row[static_cast<std::size_t>(at)] == Cell(std::string("trace2"));
  });
  for (std::vector<Cell>& row : table.rows)
    row.erase(row.begin() + at);
  return table;
}

// P26: the op's number and the busy time are part of the key.
Table TraceLensDiffStatsSummary(const Table& diff_stats) {
  return analysis::DiffStatsSummary(diff_stats, {"lowest_common_ancestor_id", "gpu_op_uid"});
}

analysis::ExtraColumns TraceLensLcaColumns(const analysis::TraceDiff& diff) {
  struct Known {
    std::unordered_map<EventIndex, std::uint32_t> lca_of;  // by GPU event of the primary trace
    std::map<std::uint32_t, LcaTimes> times;
  };
  auto known = std::make_shared<Known>();
  for (const analysis::DiffGroup& group : diff.groups) {
    if (group.lca == analysis::kNoMerged) continue;
    LcaTimes& times = known->times[group.lca];
    times.name = diff.LcaName(group);
    for (const int side : {0, 1}) {
      for (const EventIndex gpu : group.gpu[side]) {
        if (diff.sides[side].op_of(gpu) == kNoEvent) continue;
        if (side == 0) known->lca_of[gpu] = group.lca;
        if (times.us[side]) continue;  // of several groups of one LCA the first one's time
        times.us[side] = ParseDouble(fmt::format("{:.3f}", group.busy_us[side]));
      }
    }
  }
  analysis::ExtraColumns columns;
  columns.names = {"speedup (trace2/trace1)",
                   "delta_us (trace2 - trace1)",
                   "lca_count_trace2",
                   "lca_id",
                   "lca_name",
                   "lca_total_kernel_time_trace1_us",
                   "lca_total_kernel_time_trace2_us"};
  columns.cells = [known](std::span<const EventIndex> kernels, double kernel_us) {
    std::set<std::uint32_t> lcas;
    for (const EventIndex gpu : kernels) {
      const auto found = known->lca_of.find(gpu);
      if (found != known->lca_of.end()) lcas.insert(found->second);
    }
    if (lcas.empty()) return std::vector<Cell>(7);
    double us[2] = {0, 0};
    double in_trace2 = 0;
    std::string ids, names;
    for (const std::uint32_t lca : lcas) {
      const LcaTimes& times = known->times.at(lca);
      for (const int side : {0, 1})
        us[side] += times.us[side].value_or(0);
      in_trace2 += times.us[1] ? 1 : 0;
      ids += (ids.empty() ? "" : "; ") + std::to_string(lca);
      names += (names.empty() ? "" : "; ") + times.name;
    }
    return std::vector<Cell>{us[0] > 0 ? Cell(us[1] / us[0]) : Cell(),
                             us[1] - kernel_us,
                             in_trace2,
                             ids,
                             names,
                             us[0],
                             us[1]};
  };
  return columns;
}

analysis::DiffReading TraceLensDiffReading() {
  return {.clock = analysis::Clock::kDoubleMicros,
          .rules = &TraceLensDiffRules,
          .in_any_order = false,
          .needs_ops = true,
          .has_summaries = false,
          .names = &TraceLensDiffNames,
          .stats = &TraceLensDiffStats,
          .stats_summary = &TraceLensDiffStatsSummary,
          .columns = &TraceLensLcaColumns};
}

analysis::ReadDiffSide ReadTraceLensDiffSide(const EventStore& events, bool python_frames,
                                             std::span<const TraceLensCapture> captures,
                                             analysis::DiffNames& names) {
  if (auto merged = MergeCaptures(events, captures)) {
    const auto kept = std::make_shared<const MergedCaptures>(*std::move(merged));
    const EventStore& own = kept->events ? *kept->events : events;
    return {TraceLensDiffSide(own, kept->tree, names), kept};
  }
  const auto tree =
      std::make_shared<const TraceLensTree>(BuildTraceLensTree(events, python_frames));
  return {TraceLensDiffSide(events, *tree, names), tree};
}

}  // namespace jarvis::compat
