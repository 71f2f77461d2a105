// What a rank's GPU did, step by step and kernel by kernel: enough to compare ranks, and two runs
// of a job, without their traces.
//
// Times are nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/interval.h"
#include "trace/event_store.h"

namespace jarvis::analysis {

// A ProfilerStep as the GPU saw it: until the end of the last work that it launched, from the end
// of the step before (of the first one: from its mark). So steps add up, also where the host runs
// ahead.
struct RankStep {
  std::int64_t number = 0;
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;
  std::int64_t busy_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t exposed_ns = 0;  // communication beside no computation
};

// GPU work of one name.
struct RankKernel {
  std::string name;  // cut at kKernelNameMax bytes
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
};

// All but communication, which is listed call by call.
struct RankKernels {
  std::vector<RankKernel> list;  // the longest first, kRankKernelsMax at most
  RankKernel rest;               // those that are not listed, without a name
};

inline constexpr std::size_t kRankKernelsMax = 32;
inline constexpr std::size_t kKernelNameMax = 160;
inline constexpr std::size_t kRankStepsMax = 512;  // the first ones

// A piece of GPU work by the start of the call that launched it.
struct LaunchedEnd {
  std::int64_t launch_ns;
  std::int64_t end_ns;
};
struct StepMark {
  std::int64_t number;
  std::int64_t start_ns;
  std::int64_t end_ns;
};
// `marks`: of one rank; those that begin within another are left out.
std::vector<RankStep> FindRankSteps(std::vector<StepMark> marks, std::vector<LaunchedEnd> launched,
                                    const IntervalSet<std::int64_t>& compute,
                                    const IntervalSet<std::int64_t>& comm,
                                    const IntervalSet<std::int64_t>& busy);

// `gpu`: the rank's GPU work that counts, `comm`: which of it is communication.
RankKernels FindRankKernels(const trace::EventStore& events,
                            const std::vector<trace::EventIndex>& gpu,
                            const std::vector<trace::EventIndex>& comm);

}  // namespace jarvis::analysis
