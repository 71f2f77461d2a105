// What the arguments of sweep_plan and sweep_run ask for, and how both show a plan.
#pragma once

#include <memory>
#include <string>

#include "engine/workspace.h"
#include "sweep/run_driver.h"
#include "sweep/run_plan.h"
#include "sweep/run_script.h"
#include "tools/answer.h"
#include "tools/sweep_file.h"

namespace jarvis::tools {

struct SweepRequest {
  sweep::PlanRequest plan;
  sweep::DriveOptions drive;
};

// `default_dir`: where the sweep lies if output_dir does not say. kBadValue, kNotAllowed.
Result<SweepRequest> ReadSweepRequest(const engine::Workspace& workspace, const Json& arguments,
                                      const std::string& default_dir);

// The plan, with what is known of its directory.
struct PlannedSweep {
  sweep::Plan plan;
  FileDescriptor folder;  // invalid: not there yet
  SweepFile file;
  std::unique_ptr<sweep::SweepState> state;
  std::vector<sweep::Completion> runs;  // by the plan's
};
Result<PlannedSweep> PlanSweep(const engine::Workspace& workspace, const SweepRequest& request,
                               Job& job);

// Would it run, and if not, why?
bool WouldRun(const sweep::Completion& run, sweep::Skip skip);

// The answer that shows the plan: a row a run, the runs in full as far as they fit.
Answer PlanAnswer(const PlannedSweep& planned, const SweepRequest& request);

}  // namespace jarvis::tools
