// What a recording without GPU work tells about its host: findings and what it is a trace of.
#pragma once

#include <vector>

#include "findings/one/cpu_steps.h"
#include "findings/one/finding.h"
#include "findings/one/step_base.h"
#include "findings/one/work_context.h"
#include "findings/one/workload.h"

namespace jarvis::findings {

// Each with a bound in wall time that the trace shows ("at most"), the largest first. No sum is
// made of them: what remains of a wait once there are fewer is not in the trace.
std::vector<Finding> CpuFindings(const CpuSteps& steps, const StepBase& base,
                                 const WorkContext& context);

// The device, the precision and the batch, where the ops of the CPU are all that there is.
void TellCpuWorkload(const CpuSteps& steps, bool shows_gpu, Workload* workload);

}  // namespace jarvis::findings
