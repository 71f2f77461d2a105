// The gate of jarvis compare: --fail-on.
#pragma once

#include <string>
#include <vector>

#include "findings/two/compare_gate.h"
#include "findings/two/gate_condition.h"
#include "session/report_source.h"
#include "session/workspace.h"

namespace jarvis::app {

struct GateRequest {
  std::vector<findings::GateCondition> conditions;
  std::vector<std::string> baseline;  // traces: the baseline and further runs of it
  std::vector<std::string> runs;      // the other and further runs of it
  std::string platform;               // empty: the trace's device
  std::string comparison_platform;
};

// kExitOk, kExitGate if a condition is broken or the runs are not comparable, kExitFailure. Prints
// the verdict to stdout, or to stderr where stdout is JSON.
int RunGate(session::Workspace& workspace, const GateRequest& request, bool json);

}  // namespace jarvis::app
