// Which thread hands a launching thread its work: XLA runs a program on a thread for each device,
// autograd runs the backward pass on one, and neither records anything while it waits for more.
// What the host does meanwhile is on the thread that feeds it.
//
// A thread feeds another one of its process if it is of the program (it has Python frames or
// ranges), is in named calls of its own, or waits for the GPU, for most of the time in which the
// other stands still and the GPU has nothing to do, and is not while the other one works: then it
// waits, in one call that goes on over the other's launches, or does nothing. Workers beside
// (loaders, compilers) work all the time, or are not of the program.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/interval.h"
#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

struct FeederPiece {
  enum class State : std::uint8_t { kWorks, kWaitsForGpu, kWaits };
  Interval<std::int64_t> span;
  trace::EventIndex innermost;
  State state;
};

class FeedingThreads {
 public:
  // `busy`: while the GPU works.
  FeedingThreads(const trace::EventStore& events, const tree::CallTree& tree,
                 const IntervalSet<std::int64_t>& busy);

  // What the thread does that feeds the one of `track`, by start; where it is in no call but a
  // range there is none. Empty: no thread feeds it.
  std::span<const FeederPiece> Of(std::uint32_t track) const;

 private:
  std::map<std::uint32_t, std::vector<FeederPiece>> pieces_;  // by the track that is fed
};

}  // namespace jarvis::analysis
