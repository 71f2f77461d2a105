// How transfers can be hidden or made smaller, by what the job is and by the collective.
#pragma once

#include <optional>

#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

// The family of collectives that moves for longest; absent: none moves anything.
std::optional<analysis::CommFamily> BusiestFamily(const JobView& job);

// Of that family.
struct TransferWays {
  PathTexts paths;
  double a_part = 1;  // what of the transfers the second saves at most
};
TransferWays TransferPaths(const JobView& job);

}  // namespace jarvis::tools
