// Copies of an EventStore: all of it, or some of its tracks alone.
#pragma once

#include <vector>

#include "trace/event_store.h"

namespace jarvis::trace {

// Every index and id stays what it is.
EventStore CopyOf(const EventStore& from);

// What stands on these tracks, as if the file had held nothing else: events, args, flows and tracks
// are numbered anew, in their order; texts, uids and what was counted of the file stay. `tracks`:
// by track of `from`.
EventStore CopyOf(const EventStore& from, const std::vector<bool>& tracks);

}  // namespace jarvis::trace
