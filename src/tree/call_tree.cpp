#include "tree/call_tree.h"

namespace jarvis::tree {

std::vector<EventIndex> CallTree::Children(EventIndex e) const {
  std::vector<EventIndex> children;
  const std::uint32_t end = subtree_end(e);
  for (std::uint32_t at = position_[e] + 1; at < end; at = subtree_end_[at]) {
    children.push_back(order_[at]);
  }
  return children;
}

EventIndex CallTree::Enclosing(const trace::EventStore& events, EventIndex e,
                               trace::EventKind kind) const {
  for (EventIndex up = parent_[e]; up != kNoEvent; up = parent_[up]) {
    if (events[up].kind == kind) return up;
  }
  return kNoEvent;
}

std::size_t CallTree::MemoryBytes() const {
  return parent_.bytes() + position_.bytes() + order_.bytes() + subtree_end_.bytes() +
         gpu_begin_.bytes() + gpu_order_.bytes() + unlinked_.size() * sizeof(EventIndex) +
         (forward_of_.size() + backward_of_.size()) * sizeof(EventLinks::value_type);
}

}  // namespace jarvis::tree
