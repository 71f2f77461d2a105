// What `jarvis collectives` prints for people: the verdict, what the job is, the ranks, the levers
// and where the files are.
#pragma once

#include <string>

#include "json/json.h"

namespace jarvis::app {

// `answer`: the structured half of the tool's reply. Empty: it has no verdict (compat), so that the
// tool's own text is to be printed.
std::string CollectivesText(const Json& answer);

}  // namespace jarvis::app
