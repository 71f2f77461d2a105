// The reference's tree as its tables about work walk it: events and pseudo-ops as nodes, what GPU
// work and which models are below them, and which backward work belongs to which forward op.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/attribution/work_calls.h"
#include "compat/tracelens_annotations.h"
#include "compat/tracelens_tree.h"

namespace jarvis::compat {

// An event, or beyond all events a pseudo-op below an op.
using Node = std::uint32_t;
using NodeGpu = std::unordered_map<Node, std::vector<EventIndex>>;

class TraceLensNodes {
 public:
  // All must outlive the object. `inference`: see TraceLensAnnotations.
  TraceLensNodes(const trace::EventStore& events, const TraceLensTree& tree,
                 const analysis::Attribution& attribution, analysis::OpWorks& works,
                 bool inference);

  const trace::EventStore& events() const { return events_; }
  const TraceLensTree& tree() const { return tree_; }
  const analysis::Attribution& attribution() const { return attribution_; }
  analysis::OpWorks& works() { return works_; }
  Node size() const { return nodes_; }

  // Null: it is none.
  const analysis::PseudoOp* PseudoOf(Node n) const {
    return n >= events_.size() ? pseudo_[n - events_.size()] : attribution_.pseudo.AtFrame(n);
  }
  trace::EventKind KindOf(Node n) const {
    return PseudoOf(n) != nullptr ? trace::EventKind::kCpuOp : TraceLensKind(events_, n);
  }
  std::string_view NameOf(Node n) const {
    if (n >= events_.size()) return PseudoOf(n)->name;
    return attribution_.pseudo.NameOf(events_, n);
  }
  Node ParentOf(Node n) const { return n >= events_.size() ? PseudoOf(n)->at : tree_.parent[n]; }
  // Host children, in the order of the nesting.
  const std::vector<Node>& ChildrenOf(Node n) const { return children_[n]; }

  // Is there GPU work below?
  bool HasGpu(Node n) const { return has_gpu_[n] != 0; }
  // What a launch call started; null: it is none, or nothing.
  const std::vector<EventIndex>* GpuOfCall(Node call) const {
    const auto found = gpu_of_call_.find(call);
    return found == gpu_of_call_.end() ? nullptr : &found->second;
  }
  // GPU work of a set of nodes, each in the order of the launches in the file.
  NodeGpu GpuOf(const std::unordered_set<Node>& wanted) const;
  // By start, and each piece once.
  std::vector<EventIndex> ByStart(std::vector<EventIndex> kernels) const;

  const perf::ModelRow* ModelOf(Node n);
  bool HasModel(Node n);
  // Is it a cpu_op with a model and GPU work?
  bool IsModelled(Node n) const { return modelled_[n] != 0; }
  // Is one of those below, through cpu_ops and frames?
  bool IsModelledBelow(Node n) const { return modelled_below_[n] != 0; }

  // The backward node above a node, and its forward op. P41: a forward op with uid 0 counts as
  // none.
  struct Link {
    EventIndex node = kNoEvent;
    EventIndex forward = kNoEvent;
  };
  Link LinkOf(Node n) const;
  // The backward nodes of an op and of all below it.
  std::vector<EventIndex> BackwardBelow(Node op) const;

  StringId AnnotationOf(Node n) const;
  analysis::CallContext ContextOf(Node n, std::span<const EventIndex> kernels);
  // Of a row of this name about the node.
  std::string_view CategoryOf(Node n, std::string_view name) const;
  // Without its GPU work and its model.
  analysis::WorkCall CallOf(Node n) const;

 private:
  void AddChildren();
  void MarkGpu();
  void MarkModels();
  // One backward node per sequence number, and its forward op on another thread. T8: never on the
  // same one.
  void LinkGradients();
  // The event whose arguments, process and thread a node shows.
  EventIndex EventOf(Node n) const { return n >= events_.size() ? PseudoOf(n)->donor : n; }
  const perf::OpCall* ArgumentsOf(Node n);
  // The op before a "...Backward" of the same sequence number: what some models take everything
  // from.
  EventIndex ForwardBySequence(EventIndex e) const;

  const trace::EventStore& events_;
  const TraceLensTree& tree_;
  const analysis::Attribution& attribution_;
  analysis::OpWorks& works_;
  TraceLensAnnotations annotations_;
  std::vector<const analysis::PseudoOp*> pseudo_;
  Node nodes_ = 0;
  std::vector<std::vector<Node>> children_;
  std::vector<char> has_gpu_;
  std::unordered_map<Node, std::vector<EventIndex>> gpu_of_call_;
  std::vector<char> modelled_;
  std::vector<char> modelled_below_;
  std::unordered_map<Node, EventIndex> forward_of_;
  std::unordered_map<Node, EventIndex> backward_of_;
  std::unordered_map<std::int64_t, std::vector<EventIndex>> sequences_;
  std::unordered_map<Node, EventIndex> first_kernel_;
};

}  // namespace jarvis::compat
