// Where the GPU's time went: computing, communicating, copying, idle.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/table_rules.h"
#include "table/table.h"

namespace jarvis::analysis {

enum class WorkClass : std::uint8_t { kComputation, kCommunication, kMemcpy };

// Whose kernels are communication.
enum class Communicators : std::uint8_t {
  kCollectiveLibraries,  // IsCollectiveName: what the reference's tables count
  kAll,                  // and those of CommFamilyOfKernel: serving engines, symmetric memory, MoE
};
// Copies are gpu_memcpy events and the copy kernels of ROCm; communication is known by its kernels'
// names; all else, memsets included, is computation.
WorkClass ClassOf(trace::EventKind kind, std::string_view name,
                  Communicators who = Communicators::kCollectiveLibraries);

// The same of a trace's events, with each name looked at once: traces have many events of few
// names.
class WorkClasses {
 public:
  explicit WorkClasses(const EventStore& events,
                       Communicators who = Communicators::kCollectiveLibraries)
      : events_(events), who_(who) {}
  WorkClass Of(EventIndex e);

 private:
  const EventStore& events_;
  Communicators who_;
  std::unordered_map<std::uint64_t, WorkClass> known_;  // by kind and name
};

// In microseconds. Sets of intervals, so overlapping work counts once:
// computation = |C|; exposed_comm = |N \ C|; exposed_memcpy = |M \ C \ N|; busy = |C u N u M|;
// total = end of the last minus start of the first; idle = total - busy.
struct GpuTimeline {
  double computation = 0;
  double exposed_comm = 0;
  double exposed_memcpy = 0;
  double busy = 0;
  double idle = 0;
  double total = 0;
  double total_comm = 0;
  double total_memcpy = 0;
  std::optional<double> micro_idle;  // gaps shorter than the threshold, if one was given
  std::optional<double> macro_idle;
};

// Absent if there is no GPU work.
std::optional<GpuTimeline> ComputeGpuTimeline(
    const EventStore& events, std::span<const EventIndex> work, Clock clock,
    std::optional<double> micro_idle_thresh_us = {},
    Communicators who = Communicators::kCollectiveLibraries);

// type, time ms, percent (of total). Without GPU work the cells are absent.
Table GpuTimelineTable(const std::optional<GpuTimeline>& timeline);
// The same with a column is_recompute and two blocks of rows: work that is not activation
// recomputation, then (if there is any) work that is. Each block has its own total.
Table RecomputeTimelineTable(const std::optional<GpuTimeline>& first,
                             const std::optional<GpuTimeline>& recomputed);

}  // namespace jarvis::analysis
