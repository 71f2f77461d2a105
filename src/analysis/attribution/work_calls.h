// The calls that the work tables are made of: which op owns each piece of GPU work, and the work of
// that op. Made by CollectWorkCalls here, or by the reference's rules in compat/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/op_work.h"
#include "perf/platform.h"
#include "perf/roofline.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

struct WorkCall {
  EventIndex op = kNoEvent;  // whose name and arguments the row has
  std::string name;          // empty: the op's own
  std::uint32_t uid = 0;
  std::string_view category;
  std::vector<EventIndex> kernels;  // its GPU work, as listed in the kernel cells
  double kernel_us = 0;             // busy time of what the metrics are of
  bool has_model = false;           // a model, of its own or of its forward call
  const perf::ModelRow* model = nullptr;
  const perf::OpWork* work = nullptr;  // with a model; its failure says why metrics are missing
  bool backward = false;               // `work` is of the backward pass of `forward`
  EventIndex forward = kNoEvent;
  const PseudoOp* pseudo = nullptr;  // the part of a fused op that this is
  std::optional<double> host_us;     // the op's own duration
  bool recorded_arguments = true;    // false: the row has no arguments (unlinked GPU work)
  bool owns_stack = true;  // false: a row that was split off an op; its call stack is the kernel
};

// What a call achieved, by its work and its time. Absent: not known.
//   TFLOPS/s = FLOPs / time / 10^12     TB/s = bytes / time / 10^12     FLOPS/Byte = FLOPs / bytes
//   percent of the roof = time at the roof / time * 100
struct Metrics {
  std::optional<double> gflops;
  std::optional<double> tflops_per_s;
  std::optional<double> bytes;
  std::optional<double> flops_per_byte;
  std::optional<double> tb_per_s;
  std::string_view spec;  // empty: not known
  std::optional<double> roof_us;
  std::optional<perf::Bound> bound;
  std::optional<double> pct_roof;
};
struct MetricRules {
  const perf::Platform* platform = nullptr;  // null: no roof
  perf::RoofRule roof = perf::RoofRule::kAchievable;
};
Metrics MetricsOf(const perf::OpWork* work, double kernel_us, const MetricRules& rules);

struct WorkInput {
  const EventStore& events;
  const tree::CallTree& tree;
  const Attribution& attribution;
  OpWorks& works;
};

// One call per top-most modelled op with GPU work below it (or a backward op whose forward call has
// a model and that is the only one of that name below its autograd node); else one per launcher.
// All GPU work of the attribution is in exactly one call; calls by start of the op.
std::vector<WorkCall> CollectWorkCalls(const WorkInput& input);

// The work that a launcher's time is part of.
struct LauncherWork {
  const perf::OpWork* work = nullptr;  // null: no model
  const perf::ModelRow* model = nullptr;
  double call_us = 0;  // busy time of the whole call
};
// By launcher of the attribution that the calls were collected from.
std::vector<LauncherWork> WorkOfLaunchers(const EventStore& events, const Attribution& attribution,
                                          std::span<const WorkCall> calls);

// How near a set of launchers comes to the roof: the mean over their time.
struct RoofShare {
  std::optional<double> pct_roof;    // of the time that has a roof; absent: none has
  std::optional<perf::Bound> bound;  // of most of that time
  double known_us = 0;               // time that has a roof
};
RoofShare RoofShareOf(const Attribution& attribution, std::span<const LauncherWork> works,
                      std::span<const std::uint32_t> launchers, const MetricRules& rules);

}  // namespace jarvis::analysis
