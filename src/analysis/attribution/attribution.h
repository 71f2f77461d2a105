// Which operation each piece of GPU work belongs to. Every table about ops and kernels is made from
// this, so that they agree with each other.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/attribution/clock.h"
#include "analysis/attribution/pseudo_ops.h"
#include "base/column.h"
#include "perf/model_rows.h"
#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

// An op (or a bare launch call) together with the GPU work it launched itself.
struct Launcher {
  // kNoEvent: unlinked GPU work, one launcher per event. A Python frame: the pseudo-op at it.
  EventIndex op = kNoEvent;
  std::uint32_t first = 0;  // its GPU events: Attribution::kernels[first, first + count), by start
  std::uint32_t count = 0;
  double direct_us = 0;        // busy time of those
  double subtree_us = 0;       // busy time of all GPU work below it
  std::uint32_t category = 0;  // a place in Attribution::categories
};

// Where one kernel comes from.
struct KernelPlace {
  EventIndex kernel;
  EventIndex launch;  // the call that launched it, or kNoEvent
  EventIndex op;      // the nearest cpu_op (or pseudo-op) around that, or kNoEvent
};

struct Attribution {
  Clock clock = Clock::kNanoseconds;
  Column<EventIndex> timeline;  // GPU work that the timeline counts
  Column<Launcher> launchers;   // by start of the op
  Column<EventIndex> kernels;
  Column<KernelPlace> places;                // of what the kernel tables show, in file order
  std::vector<std::string_view> categories;  // of launchers; texts of the models or the program
  bool cpu_ops = true;                       // the trace has host ops at all
  PseudoOps pseudo;                          // empty unless asked for

  std::span<const EventIndex> KernelsOf(const Launcher& launcher) const {
    return kernels.span().subspan(launcher.first, launcher.count);
  }
  std::string_view CategoryOf(const Launcher& launcher) const {
    return categories[launcher.category];
  }
  // The place of a category, which is entered if it is new.
  std::uint32_t PlaceOfCategory(std::string_view category);
};

// Communication kernels: rccl, nccl or cross_device_reduce in the name.
bool IsCollectiveName(std::string_view name);

// All GPU work counts; collectives belong to the op that started them, unlinked work is listed as
// such. The op of a launch is the nearest cpu_op around it, through Python frames, annotations and
// nested runtime or driver calls; ops named "execute" are wrappers and passed through.
// Pseudo-ops at frames count as ops. Categories are those of `models`.
Attribution Attribute(const EventStore& events, const tree::CallTree& tree, PseudoOps pseudo = {},
                      const perf::ModelRows& models = perf::BuiltinRows());

// The pseudo-ops of a tree in which nothing was dropped.
PseudoOps FindPseudoOps(const EventStore& events, const tree::CallTree& tree);

// How much of the GPU work is seen through its op, and what was left out or changed.
struct Coverage {
  struct Part {
    std::uint64_t count = 0;
    double time_us = 0;  // sum of durations
  };
  Part all;      // GPU work in the trace that counts
  Part linked;   // below a launch call or an op
  Part with_op;  // below a cpu_op
  Part unlinked;
  Part clipped;   // time: what was cut off
  Part left_out;  // as recorded
};
Coverage ComputeCoverage(const EventStore& events, const tree::CallTree& tree);

}  // namespace jarvis::analysis
