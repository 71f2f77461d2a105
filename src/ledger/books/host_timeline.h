// What each thread of the host does at each moment, and what that is for the books: own work, a
// wait, a first call.
//
// Times are nanoseconds on the trace's clock. Const after construction; any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/frames/base_of_time.h"
#include "analysis/frames/frame_facts.h"
#include "analysis/host/feeding_threads.h"

namespace jarvis::ledger {

using analysis::EventIndex;
using analysis::TimeMeter;
using analysis::TimeSet;
using analysis::TimeSpan;

// What a runtime or driver call is for the host's time.
enum class CallRole : std::uint8_t { kWait, kCopy, kMemory, kLaunch, kGraphLaunch, kOther };

struct HostSegment {
  TimeSpan span;
  EventIndex innermost;  // host event; trace::kNoEvent: nothing is recorded
  bool stalled = false;  // far longer than is usual for calls of the name, which do not wait
};

class HostTimeline {
 public:
  // Of every thread that launches GPU work, and the one that the frames are of. REQUIRES: facts
  // and base outlive it.
  HostTimeline(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base);

  // By start; from the thread's first event to its last without holes. Empty: another thread.
  std::span<const HostSegment> Of(std::uint32_t track) const;
  // The threads with most launches first.
  const std::vector<std::uint32_t>& launching() const { return launching_; }
  std::uint64_t LaunchesOf(std::uint32_t track) const { return launches_[track]; }

  // What the thread does that hands this one its work; see feeding_threads.h.
  std::span<const analysis::FeederPiece> FeederOf(std::uint32_t track) const {
    return feeding_.Of(track);
  }

  CallRole RoleOf(EventIndex call) const { return roles_[facts_.events[call].name]; }
  bool IsFirstCall(std::int64_t at) const { return Contains(first_calls_, at); }
  // Within a data loader's next batch; of one with worker processes that is a wait for these.
  bool InLoader(std::uint32_t track, std::int64_t at) const;
  bool InWorkersLoader(std::uint32_t track, std::int64_t at) const;
  const analysis::FrameFacts& facts() const { return facts_; }

 private:
  struct Thread {
    std::vector<HostSegment> segments;
    TimeSet loader, workers_loader;
  };
  void Walk(std::uint32_t track, std::span<const EventIndex> events);
  void FindStalls();

  const analysis::FrameFacts& facts_;
  std::vector<std::uint64_t> launches_;  // by track
  std::vector<std::uint32_t> launching_;
  std::vector<CallRole> roles_;  // by name
  std::unordered_map<std::uint32_t, Thread> threads_;
  const TimeSet& first_calls_;
  const analysis::FeedingThreads feeding_;
};

}  // namespace jarvis::ledger
