// Stretches in which no thread that launches GPU work runs an op or a runtime call: plain Python, C
// that is not recorded, sleep, waiting for another thread. Grouped by the ops before and after.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/host/gpu_work.h"
#include "analysis/host/host_threads.h"

namespace jarvis::analysis {

struct StretchFrame {
  std::string name;  // Python frame with file and line; of built-ins the name
  std::string code;  // user code around a built-in or a frame of a library; empty: none
  std::int64_t ns;   // self time in the group's stretches
  bool waits;        // it only waits
};

struct EmptyStretch {
  std::int64_t start_ns;
  std::int64_t end_ns;
};

struct StretchGroup {
  std::string before;  // op or call that ended last before; empty: the recording begins
  std::string after;   // op or call that began next; empty: the recording ends
  std::string range;   // innermost annotation around it (steps apart); empty: none
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t median_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t gpu_busy_ns = 0;  // of total_ns: the GPU worked meanwhile
  // What threads that launch nothing did meanwhile, the name with most time (a loader, a collective
  // of the CPU); empty: nothing. Time of several such threads adds up.
  std::string meanwhile;
  std::int64_t meanwhile_ns = 0;
  // Median from one's begin to the next one's; absent for a single one.
  std::optional<std::int64_t> period_ns;
  std::vector<StretchFrame> frames;     // the most time first, at most kStretchFramesMax
  std::int64_t frames_ns = 0;           // of total_ns: inside Python frames that are recorded
  std::vector<EmptyStretch> stretches;  // by start
};
inline constexpr std::size_t kStretchFramesMax = 8;

struct HostStretches {
  std::int64_t threshold_ns = 0;  // shorter ones are counted, not shown
  std::int64_t total_ns = 0;      // of those that are long enough
  std::int64_t short_ns = 0;      // of the others
  std::uint64_t short_count = 0;
  std::vector<StretchGroup> groups;  // the most time first
};

HostStretches FindStretches(const HostInput& input, const ThreadTimes& threads,
                            const HostGpuWork& gpu, HostNames* names);

}  // namespace jarvis::analysis
