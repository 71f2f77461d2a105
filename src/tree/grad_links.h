// Forward op <-> backward node, by the autograd sequence number both carry.
#pragma once

#include <string_view>

#include "tree/call_tree.h"

namespace jarvis::tree {

inline constexpr std::string_view kBackwardNodePrefix = "autograd::engine::evaluate_function: ";

// For each sequence number: the backward node is the first event by start whose name has the
// prefix; the forward op is, among the ops that start before it, the one that
// starts last (the innermost of nested ops that share the number). The thread does not matter:
// single-threaded autograd runs both on one.
void GradLinks(const trace::EventStore& events, const CallTree& tree, EventLinks* forward_of,
               EventLinks* backward_of);

}  // namespace jarvis::tree
