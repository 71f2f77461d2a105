// Changes as callers name them, and as the simulation takes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/simulation/change.h"
#include "analysis/simulation/simulation.h"
#include "base/job.h"
#include "base/result.h"
#include "findings/one/wall_plan.h"
#include "json/json.h"
#include "session/workspace.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {

struct NamedChange {
  std::string text;  // what is changed, for a reader
  std::vector<analysis::Change> changes;
  std::string note;  // what the change leaves out; may be empty
  // Of a finding, with the saving that it states; absent: another change.
  std::optional<findings::PlanStep> finding = std::nullopt;
};

// The argument `changes`: objects with what is changed (finding, row, kernel, category, fuse, host,
// host_op, graph, pin_copies, remove_waits, profiler_cost, gpu) and how (factor, ms, tflops, gbps,
// remove). Findings are those of the trace's analysis against the argument `platform`, if any.
// Errors: kBadValue for what is not there or does not fit together; kCancelled.
Result<std::vector<NamedChange>> ReadChanges(session::Workspace& workspace,
                                             const session::LoadedTrace& trace,
                                             const analysis::Simulation& simulation,
                                             const Json& arguments, Job& job);

}  // namespace jarvis::tools
