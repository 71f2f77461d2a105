// A plan for a person at a terminal, from the structured answer of sweep_plan or sweep_run.
#pragma once

#include <string>

#include "tools/shared/answer.h"

namespace jarvis::tools {

std::string PlanText(const Json& answer);

}  // namespace jarvis::tools
