// Why the GPU waited: every gap between its work, classified by what the host did meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/loaded_trace.h"

namespace jarvis::findings {

enum class GapClass : std::uint8_t {
  kHostBound,          // the host ran ops or Python and launched too late
  kSynchronisation,    // the host waited for the GPU to finish before it went on
  kDataLoading,        // the host waited for data
  kCommunicationWait,  // the work before or after is a collective, or the host waited for one
  kStartUp,            // memory, modules and libraries set up; the first steps
  kProfilerCost,       // the profiler held the host up: without it there would be no gap
  kFirstCalls,         // code loaded and libraries set up by what ran for the first time
  kDescheduled,        // the host was not running: it had no CPU
  kLaunchDelay,        // launched in time, started late: queueing, dependencies between streams
  kUnknown,            // nothing on the host explains it
};
std::string_view GapText(GapClass kind);  // "host_bound", "synchronisation", ...

struct Gap {
  double start_us = 0;  // from the start of the window
  double dur_us = 0;
  std::int64_t end_ns = 0;  // on the trace's clock: start of the next GPU event
  GapClass kind = GapClass::kUnknown;
  bool drained = false;         // a synchronising call ended before the next launch
  std::string previous_kernel;  // whole names
  std::string next_kernel;
  std::string previous_op;  // empty: not linked
  std::string next_op;
  std::uint32_t next_uid = 0;           // of the next GPU event
  std::string module_path;              // of the next op
  std::vector<std::string> call_stack;  // code places of the next launch, innermost first
  std::string dominant;                 // the host event with most of the gap; empty: none
  double dominant_us = 0;
  std::string thread;      // of the next launch
  std::int64_t step = -1;  // number; -1: outside every step
  int device = 0;
  double saved_us = 0;  // if its cause were gone; 0: cannot be told
};

struct GapGroup {
  std::string name;  // class, module path, step
  std::uint64_t count = 0;
  double total_us = 0;
  double median_us = 0;
  double max_us = 0;
  // If the causes were gone: queued_gap_us stays of each gap, at worst limits::kLaunchMinUs.
  double saved_us = 0;
  double saved_low_us = 0;
  std::optional<double> percent_of_idle;
};

struct IdleAnalysis {
  bool has_gpu_work = false;
  double window_us = 0;      // as in gpu_timeline, without what is not recorded
  double idle_us = 0;        // likewise, all devices of the trace together
  double unrecorded_us = 0;  // the GPU was busy with what is not in the trace: no gap
  std::optional<double> idle_percent;
  bool flagged = false;            // above limits::kIdleShare
  bool reliable = true;            // false: graph replay hides launches; see `unreliable_because`
  std::string unreliable_because;  // "graph_replay", "no_launches", "several_devices"
  double graph_percent = 0;        // of kernel time under graph launches
  double queued_gap_us = 0;        // median gap before work that had been launched in time
  double micro_us = 0;             // in gaps below limits::kGapUs
  std::uint64_t micro_count = 0;
  std::vector<GapGroup> by_class;   // all gaps, micro gaps too: adds up to idle_us; most time first
  std::vector<GapGroup> by_module;  // of the next op; most time first
  std::vector<GapGroup> by_step;    // in order
  std::vector<Gap> gaps;            // the longest first, at most IdleOptions::gaps_max
  std::uint64_t gap_count = 0;      // all from limits::kGapUs on
  // Kernels, for launch-bound judgement.
  std::uint64_t kernels = 0;
  std::uint64_t short_kernels = 0;  // below limits::kSmallKernelUs
  double mean_kernel_us = 0;
};

struct IdleOptions {
  std::size_t gaps_max = 50;
  // Once it is stopped no more gaps are looked at: whoever gives one looks at it before anything
  // that comes back is used.
  const Job* job = nullptr;
};
IdleAnalysis AnalyzeIdle(const session::LoadedTrace& trace, const IdleOptions& options = {});

}  // namespace jarvis::findings
