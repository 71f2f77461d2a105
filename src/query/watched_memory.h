// Memory for SQLite that is refused once a question is over. SQLite asks whether to stop between
// the steps of a question that runs; while it compiles one, which takes exponential time for nested
// WITH, or is within a function, it asks for nothing but memory.
#pragma once

#include "query/watch.h"

namespace jarvis::query {

// The thread that has one answers the question of that watch.
class WatchedMemory {
 public:
  explicit WatchedMemory(const Watch& watch);
  WatchedMemory(const WatchedMemory&) = delete;
  WatchedMemory& operator=(const WatchedMemory&) = delete;
  ~WatchedMemory();
};

}  // namespace jarvis::query
