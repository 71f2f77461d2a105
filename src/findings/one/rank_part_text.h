// A trace that is one rank of a file with several, in words.
#pragma once

#include <string>

#include "session/part_request.h"

namespace jarvis::findings {

// Which rank all figures are of, and how long the others work.
std::string RankPartText(const session::RankPart& part);
// What of the file is not in the trace, and what may hold the rank up unseen.
std::string LeftOutText(const session::RankPart& part);

}  // namespace jarvis::findings
