// When the host was alone: neither GPU work nor an op nor a runtime call ran, so that the time is
// Python's, a library's, a sleep's, or another process's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/frames/frame_facts.h"

namespace jarvis::analysis {

// Stretches in which neither GPU work nor an op nor a runtime call ran, between the same
// neighbours.
struct HostOnlyGroup {
  std::string before;  // the op or runtime call that ended before; empty: the frame began
  std::string after;   // ... that came next; empty: the frame ended
  std::string where;   // innermost Python frame with most of the time; empty: none recorded
  std::string within;  // innermost annotation around it; empty: none
  std::string thread;  // that it is of
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t median_ns = 0;
  std::int64_t max_ns = 0;
  std::optional<std::int64_t> period_ns;  // median from start to start; absent below three
  std::int64_t first_ns = 0;              // start of the first
};

struct HostOnlyTime {
  std::int64_t all_ns = 0;    // of all stretches, however short
  std::int64_t total_ns = 0;  // of all stretches of at least `least_ns`
  std::int64_t least_ns = 0;
  std::uint64_t count = 0;
  std::vector<HostOnlyGroup> groups;  // the longest first
};

// Of the span; `unrecorded` is left out, the GPU was busy then.
HostOnlyTime FindHostOnly(const FrameFacts& facts, TimeSpan span, const TimeSet& unrecorded);

}  // namespace jarvis::analysis
