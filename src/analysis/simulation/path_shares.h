// What the critical path of a trace is made of: host, GPU, waits; by op.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/simulation/simulation.h"

namespace jarvis::analysis {

// What a step of the path is, for a reader.
enum class PathClass : std::uint8_t {
  kHost,        // the host's own work, and threads handing over to each other
  kLaunch,      // the way from a launch to the GPU
  kGpu,         // GPU work, with the gaps between and the waits of streams for each other
  kReturn,      // from the end of GPU work to where the host goes on
  kUnrecorded,  // the GPU was busy with work that is not in the trace
  kUnknown,     // no cause known
};
inline constexpr std::size_t kPathClasses = 6;
std::string_view PathClassText(PathClass path_class);
PathClass ClassOf(const PathStep& step);

struct PathShares {
  double us[kPathClasses] = {};  // by class
  double Total() const;
  double PercentOf(PathClass path_class) const;  // 0 without a path
};
PathShares SharesOf(std::span<const PathStep> path);
// "bound by the host (94 % of the critical path; GPU 4 %)"; empty without a path.
std::string BoundText(const PathShares& shares);

// A run of the path in which one class prevails.
struct PathStretch {
  double begin_us = 0;
  double end_us = 0;
  PathClass prevails = PathClass::kHost;
  PathShares shares;
};
// By time. The path is cut into so many equal parts; neighbours in which the same prevails are one.
std::vector<PathStretch> StretchesOf(std::span<const PathStep> path, std::size_t parts);

// An op's part of the path: of the host's time the innermost op's (a Python frame's or an
// annotation's where no op runs), of GPU work the op's that launched it.
struct PathOwner {
  std::string name;  // without addresses of objects; empty: no op, frame or annotation
  bool is_op = false;
  double host_us = 0;
  double gpu_us = 0;   // with the launches' and streams' latencies
  double wait_us = 0;  // returns of waits, and what is not recorded
  double us() const { return host_us + gpu_us + wait_us; }
};
// The longest first, ties by name.
std::vector<PathOwner> OwnersOf(const trace::EventStore& events, const Attribution& attribution,
                                const RecordedWork& recorded, std::span<const PathStep> path);

}  // namespace jarvis::analysis
