// Events to tree: the passes in order.
#pragma once

#include "base/job.h"
#include "tree/call_tree.h"

namespace jarvis::tree {

// Nests host events by time on each thread, links GPU work to launch calls by correlation, and
// forward ops to backward nodes by autograd sequence number.
//
// Nesting: events are taken by start, the longer first, and on equal intervals the kind that calls
// the other first. An event that starts less than a microsecond before its would-be parent ends is
// its sibling (clocks are that coarse); one that sticks out further stays a child. No event is
// lost.
Result<CallTree> BuildTree(const trace::EventStore& events, int threads, Job& job);

}  // namespace jarvis::tree
