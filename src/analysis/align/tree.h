// One trace as a tree for the alignment with another: the host events around GPU work, and that
// work as leaves. Nodes are numbered depth first, so that a subtree is a range.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

using trace::EventIndex;
using trace::EventStore;
using trace::kNoEvent;

using DiffIndex = std::uint32_t;
inline constexpr DiffIndex kNoDiffNode = 0xFFFFFFFFu;

enum class DiffKind : std::uint8_t {
  kOp,
  kFrame,        // Python frames, modules, annotations, threads, the trace itself
  kLaunch,       // a runtime or driver call
  kGraphLaunch,  // one that replays a graph
  kGpu,
};

struct DiffNode {
  EventIndex event;  // kNoEvent: a thread, or the trace
  DiffIndex parent;
  DiffIndex end;                 // one past the last node below
  std::uint32_t children_begin;  // of DiffTree::children
  std::uint32_t children_end;
  StringId name;      // as compared, in DiffNames
  StringId stripped;  // more loosely
  DiffKind kind;
  bool gpu_path;  // is GPU work, or has some below
};

// The names of both traces: equal names have equal ids.
class DiffNames {
 public:
  using Rule = std::string (*)(std::string_view name);
  explicit DiffNames(Rule rule) : rule_(rule) {}
  struct Ids {
    StringId name;
    StringId stripped;
  };
  Ids Of(std::string_view name);

 private:
  Rule rule_;
  StringPool raw_;
  StringPool pool_;
  std::vector<Ids> ids_;  // by raw name
};

struct DiffTree {
  const EventStore* events = nullptr;
  std::vector<DiffNode> nodes;
  std::vector<DiffIndex> children;
  std::vector<DiffIndex> roots;
  std::vector<DiffIndex> gpu;  // the leaves that are GPU work, ascending
  // Siblings stand in the order of the nodes, unless this is given: by node.
  std::vector<double> start;
  // The order of GPU work below a node, if it is not that of the nodes: by place in `gpu`.
  std::vector<std::uint32_t> gpu_rank;

  std::span<const DiffIndex> ChildrenOf(DiffIndex n) const {
    const DiffNode& node = nodes[n];
    return std::span(children).subspan(node.children_begin,
                                       node.children_end - node.children_begin);
  }
  bool Before(DiffIndex a, DiffIndex b) const {
    return start.empty() || start[a] == start[b] ? a < b : start[a] < start[b];
  }
  bool IsGpu(DiffIndex n) const { return nodes[n].kind == DiffKind::kGpu; }
  // GPU work below the node, or itself.
  std::vector<EventIndex> GpuBelow(DiffIndex n) const;
  std::size_t size() const { return nodes.size(); }
};

// Host events and GPU work by parent, in the order of the children.
struct DiffChildren {
  std::vector<std::uint32_t> begin;  // by event, and one more
  std::vector<EventIndex> list;
  std::span<const EventIndex> Of(EventIndex e) const {
    return std::span(list).subspan(begin[e], begin[e + 1] - begin[e]);
  }
};
// `edges`: parent and child; the children of one parent stay in the order given.
DiffChildren GroupByParent(std::size_t events,
                           std::span<const std::pair<EventIndex, EventIndex>> edges);

// Adds nodes depth first.
class DiffTreeBuilder {
 public:
  using KindOf = std::function<DiffKind(EventIndex)>;
  DiffTreeBuilder(const EventStore& events, DiffNames& names, KindOf kind);
  // A node of ours; what is added until Close() is below it.
  void OpenGroup(std::string_view name);
  void Close();
  // An event with all below it. The walk is not recursive.
  DiffIndex AddSubtree(EventIndex root, const DiffChildren& children);
  DiffTree Finish();

 private:
  DiffIndex Add(EventIndex event, std::string_view name, DiffKind kind);

  DiffNames& names_;
  KindOf kind_;
  DiffTree tree_;
  std::vector<DiffIndex> open_;
};

// The default's tree: all threads below one node; calls of the runtime left out, so that what an op
// launched itself hangs on the op; of host events those around GPU work, and their children.
DiffTree MakeDiffTree(const EventStore& events, const tree::CallTree& tree, DiffNames& names);

}  // namespace jarvis::analysis
