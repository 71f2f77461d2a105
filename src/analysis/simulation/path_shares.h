// What the critical path of a trace is made of: host, GPU, waits; by op, module or part of a step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/simulation/simulation.h"
#include "base/interval.h"
#include "tree/call_tree.h"

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
// "host 94 %, GPU 4 %"; empty without a path.
std::string SharesText(const PathShares& shares);

// A run of the path in which one class prevails.
struct PathStretch {
  double begin_us = 0;
  double end_us = 0;
  PathClass prevails = PathClass::kHost;
  PathShares shares;
};
// By time. The path is cut into so many equal parts; neighbours in which the same prevails are one.
std::vector<PathStretch> StretchesOf(std::span<const PathStep> path, std::size_t parts);

// The steps of the path that end within these stretches of recorded time (nanoseconds on the
// trace's clock).
std::vector<PathStep> StepsWithin(const RecordedWork& recorded, std::span<const PathStep> path,
                                  const IntervalSet<std::int64_t>& spans);

// A part of the path by whose time it is.
struct PathSplit {
  double host_us = 0;
  double gpu_us = 0;   // with the launches' and streams' latencies
  double wait_us = 0;  // returns of waits, and what is not recorded
  double us() const { return host_us + gpu_us + wait_us; }
};

// An op's part of the path: of the host's time the innermost op's (a Python frame's or an
// annotation's where no op runs), of GPU work the op's that launched it. Or the part of the modules
// around these.
struct PathOwner : PathSplit {
  // Without addresses of objects; empty: no op, frame or annotation, or no module around it.
  std::string name;
  bool is_op = false;
};
enum class PathOwnership : std::uint8_t { kOp, kModule };
// The longest first, ties by name.
std::vector<PathOwner> OwnersOf(const trace::EventStore& events, const tree::CallTree& tree,
                                const Attribution& attribution, const RecordedWork& recorded,
                                std::span<const PathStep> path,
                                PathOwnership ownership = PathOwnership::kOp);

// A stretch of host time that belongs to the part with this number.
struct PartSpan {
  Interval<std::int64_t> ns;  // on the trace's clock
  std::size_t part = 0;
};
// What of the path is each part's: host time by when it ran, GPU work by when it was launched. The
// last is of no part. `spans` do not overlap, by start.
std::vector<PathSplit> SplitPath(const RecordedWork& recorded, std::span<const PathStep> path,
                                 std::span<const PartSpan> spans, std::size_t parts);

}  // namespace jarvis::analysis
