// What a rank's GPU did, step by step and kernel by kernel: enough to compare ranks, and two runs
// of a job, without their traces.
//
// Times are nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::analysis {

// A unit of the rank's ledger (ledger/books): a marked step, an iteration, a pass. Steps that
// figures are not of are among them.
struct RankStep {
  std::int64_t number = 0;
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;
  std::int64_t busy_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t exposed_ns = 0;  // communication that nothing hides
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

// `gpu`: the rank's GPU work that counts, `comm`: which of it is communication.
RankKernels FindRankKernels(const trace::EventStore& events,
                            const std::vector<trace::EventIndex>& gpu,
                            const std::vector<trace::EventIndex>& comm);

}  // namespace jarvis::analysis
