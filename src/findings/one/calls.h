// The calls of a trace as the workflow sees them: which signature each belongs to, and who launched
// it. Internal to the layer: what leaves it are Operations.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution/module_paths.h"
#include "analysis/attribution/work_calls.h"
#include "findings/one/category_analysis.h"
#include "perf/platform.h"
#include "session/loaded_trace.h"
#include "session/trace_work.h"

namespace jarvis::findings {

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// Where an operation stands: its category's place and its own place in it.
struct Place {
  std::uint32_t category = kNone;
  std::uint32_t operation = kNone;
};

struct Calls {
  const session::LoadedTrace& trace;     // with the ops of captured graphs, where they are known
  const session::LoadedTrace& recorded;  // as it was recorded
  const perf::Platform* platform;        // null: none known
  std::shared_ptr<const session::TraceWork> work;        // owns the calls
  std::vector<analysis::WorkCall> split;                 // owns them where replays were split
  std::span<const analysis::WorkCall> calls;             // by start
  std::vector<std::uint32_t> call_of;                    // by GPU event: the call, or kNone
  std::vector<Place> place_of;                           // by call
  std::vector<std::vector<std::uint32_t>> of_operation;  // by running number of the operation
  std::unique_ptr<analysis::ChainTree> chains;
  double window_us = 0;
  double computation_us = 0;
  double kernel_floor_us = 0;  // what a kernel takes however little it does

  const trace::EventStore& events() const { return trace.events(); }
  bool IsHostCall(const analysis::WorkCall& call) const {
    return trace.tree().position(call.op) != tree::kNoPosition;
  }
  std::string_view NameOf(const analysis::WorkCall& call) const {
    return call.name.empty() ? events().name(call.op) : std::string_view(call.name);
  }
};

// The work of one call on a platform: roof and achieved rates. A roof by its bytes alone where it
// has no FLOPs.
struct CallRoof {
  std::optional<double> flops, bytes, roof_us, compute_us, memory_us;
  std::optional<perf::Bound> bound;
  std::optional<perf::Ceiling> ceiling;
  std::string_view spec;
};
CallRoof RoofOf(const analysis::WorkCall& call, const perf::Platform* platform);

// All calls with their signatures as operations in categories: sorted by time, with efficiency,
// library, callers and shares; without patterns and estimates. Kernels of a replayed graph are
// below the ops of its capture, or without one operations of their own by name.
struct Collected {
  Calls calls;
  std::vector<CategoryAnalysis> categories;
};
Result<Collected> CollectOperations(const session::LoadedTrace& trace,
                                    const perf::Platform* platform,
                                    const std::shared_ptr<const perf::ModelRows>& models, Job& job);

// Which share of their roofs the category's operations reach; absent where those that can be judged
// are less than half of its time, as they then say nothing of the others.
void RateCategory(CategoryAnalysis* category);

}  // namespace jarvis::findings
