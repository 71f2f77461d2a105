// Who called what: the host events of a trace as trees, and GPU work below the calls that launched
// it.
//
// Built once, then const: any number of threads may read it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "base/column.h"
#include "trace/event_store.h"
#include "tree/launch_processes.h"

namespace jarvis::tree {

using trace::EventIndex;
using trace::kNoEvent;

inline constexpr std::uint32_t kNoPosition = 0xFFFFFFFFu;

// Host events: what a CPU thread did (ops, annotations, Python frames, runtime and driver calls).
inline bool IsHost(trace::EventKind kind) {
  return kind == trace::EventKind::kCpuOp || kind == trace::EventKind::kUserAnnotation ||
         kind == trace::EventKind::kPythonFunction || trace::IsLaunchCall(kind);
}

struct EventLink {
  EventIndex from;
  EventIndex to;
  auto operator<=>(const EventLink&) const = default;
};
using EventLinks = std::vector<EventLink>;  // sorted

class CallTree {
 public:
  // The host event around a host event, the launch call (or, without one, the op) of a GPU event;
  // kNoEvent for roots and unlinked GPU work.
  EventIndex parent(EventIndex e) const { return parent_[e]; }

  // Host events, each before its descendants, which follow it without a gap.
  std::span<const EventIndex> preorder() const { return order_.span(); }
  // A host event's place in preorder(); kNoPosition for others.
  std::uint32_t position(EventIndex e) const { return position_[e]; }
  // One past the last descendant's place.
  std::uint32_t subtree_end(EventIndex e) const { return subtree_end_[position_[e]]; }
  std::span<const EventIndex> Subtree(EventIndex e) const {  // the event itself first
    return preorder().subspan(position_[e], subtree_end(e) - position_[e]);
  }
  std::vector<EventIndex> Children(EventIndex e) const;  // host children, by start

  // GPU work launched by the event or below it, by launch, then by start.
  std::span<const EventIndex> GpuBelow(EventIndex e) const {
    const std::uint32_t begin = gpu_begin_[position_[e]];
    return gpu_order_.span().subspan(begin, gpu_begin_[subtree_end(e)] - begin);
  }
  // GPU work launched by this very call.
  std::span<const EventIndex> GpuOf(EventIndex call) const {
    const std::uint32_t begin = gpu_begin_[position_[call]];
    return gpu_order_.span().subspan(begin, gpu_begin_[position_[call] + 1] - begin);
  }
  // GPU work that no launch call or op in the trace claims, by start.
  std::span<const EventIndex> unlinked() const { return unlinked_; }
  // How many GPU events hang on an op by External id because no call has their correlation.
  std::uint64_t linked_by_external_id() const { return linked_by_external_id_; }

  // How many of unlinked() have the id of calls of several processes, and nothing says whose.
  std::uint64_t ambiguous() const { return ambiguous_; }
  // Which process launched the work of which place; see launch_processes.h.
  const LaunchProcesses& launch_processes() const { return launch_processes_; }
  // Launch calls that stand below the op that their External id names, though they lie beside it.
  std::uint64_t moved_calls() const { return moved_calls_; }

  // The forward op of a backward node (autograd::engine::evaluate_function: ...), and back.
  EventIndex ForwardOf(EventIndex backward) const { return Find(forward_of_, backward); }
  EventIndex BackwardOf(EventIndex forward) const { return Find(backward_of_, forward); }

  // The innermost enclosing event of that kind (the event itself does not count), or kNoEvent.
  EventIndex Enclosing(const trace::EventStore& events, EventIndex e, trace::EventKind kind) const;

  std::size_t MemoryBytes() const;

  // See base/image.h.
  template <typename Self, typename Image>
  static void EachPart(Self& self, Image& image) {
    image(self.parent_);
    image(self.position_);
    image(self.order_);
    image(self.subtree_end_);
    image(self.gpu_begin_);
    image(self.gpu_order_);
    image(self.unlinked_);
    image(self.forward_of_);
    image(self.backward_of_);
    image(self.linked_by_external_id_);
    image(self.ambiguous_);
    image(self.launch_processes_.of_track);
    image(self.launch_processes_.launcher);
    image(self.moved_calls_);
  }

 private:
  friend class TreeBuilder;
  static EventIndex Find(const EventLinks& links, EventIndex e) {
    const auto found = std::lower_bound(links.begin(), links.end(), EventLink{e, 0});
    return found == links.end() || found->from != e ? kNoEvent : found->to;
  }

  Column<EventIndex> parent_;          // by event
  Column<std::uint32_t> position_;     // by event
  Column<EventIndex> order_;           // by position
  Column<std::uint32_t> subtree_end_;  // by position
  Column<std::uint32_t> gpu_begin_;    // by position, and one more
  Column<EventIndex> gpu_order_;
  std::vector<EventIndex> unlinked_;
  EventLinks forward_of_;
  EventLinks backward_of_;
  std::uint64_t linked_by_external_id_ = 0;
  std::uint64_t ambiguous_ = 0;
  LaunchProcesses launch_processes_;
  std::uint64_t moved_calls_ = 0;
};

}  // namespace jarvis::tree
