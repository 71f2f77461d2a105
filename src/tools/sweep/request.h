// What the arguments of sweep_plan and sweep_run ask for, and how both show a plan.
#pragma once

#include <memory>
#include <string>

#include "formats/sweep_json.h"
#include "launch/driver.h"
#include "launch/plan.h"
#include "launch/script.h"
#include "session/workspace.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

struct SweepRequest {
  launch::PlanRequest plan;
  launch::DriveOptions drive;
};

// `default_dir`: where the sweep lies if output_dir does not say. kBadValue, kNotAllowed.
Result<SweepRequest> ReadSweepRequest(const session::Workspace& workspace, const Json& arguments,
                                      const std::string& default_dir);

// The plan, with what is known of its directory.
struct PlannedSweep {
  launch::Plan plan;
  FileDescriptor folder;  // invalid: not there yet
  formats::SweepFile file;
  std::unique_ptr<launch::SweepState> state;
  std::vector<launch::Completion> runs;  // by the plan's
};
Result<PlannedSweep> PlanSweep(const session::Workspace& workspace, const SweepRequest& request,
                               Job& job);

// Would it run, and if not, why?
bool WouldRun(const launch::Completion& run, launch::Skip skip);

// The answer that shows the plan: a row per run, the runs in full as far as they fit.
Answer PlanAnswer(const PlannedSweep& planned, const SweepRequest& request);

}  // namespace jarvis::tools
