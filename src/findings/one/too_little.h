// Recordings that hold a few launches beside the start of their program: a smoke test, not a
// workload whose time could be ranked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/host/first_calls.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

struct OnceCall {
  std::string name;
  std::uint64_t count = 0;
  double ms = 0;
};

struct TooLittle {
  std::uint64_t kernels = 0;
  double gpu_ms = 0;
  double start_up_ms = 0;       // of the host's calls, those that set up and come once
  std::vector<OnceCall> calls;  // of these, the longest first
};

// Absent: the work repeats, several steps are marked, or start-up is the smaller part.
std::optional<TooLittle> FindTooLittle(const session::LoadedTrace& trace,
                                       const analysis::FirstCalls& first_calls);

// Building a GPU graph against what its replays save.
struct GraphBuild {
  std::uint64_t graphs = 0, replays = 0;
  double build_ms = 0;  // capturing, instantiating, destroying
  double saves_ms = 0;  // at most: launches that the replays replace, less their own
};

// Absent: no graph is built here, what it holds is unknown, or its replays save more than it took.
std::optional<GraphBuild> FindCostlyGraph(const session::LoadedTrace& trace);

}  // namespace jarvis::findings
