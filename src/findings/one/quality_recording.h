// Qualities of what was recorded: damage, what is missing, whose work it is, ranks, secrets.
#pragma once

#include <vector>

#include "findings/one/quality.h"

namespace jarvis::findings {

void AddRecordingQualities(const session::LoadedTrace& trace, std::vector<Quality>* list);

}  // namespace jarvis::findings
