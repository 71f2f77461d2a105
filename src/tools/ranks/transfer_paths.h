// How transfers can be hidden or made smaller, by what the job is and by the collective.
#pragma once

#include <optional>

#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

// The family of collectives that moves for longest; absent: none moves anything.
std::optional<analysis::CommFamily> BusiestFamily(const JobView& job);

// Of that family. A bound is of its action alone: what can run beside the transfers, what a link
// without any time would leave, or fewer bytes; never the whole line for want of another figure.
struct TransferWays {
  PathTexts paths;
  PathBounds bounds;
};
TransferWays TransferPaths(const JobView& job);

// The kernel with whose uneven load the transfers behind it grow; null: none is known.
const analysis::LateKernel* LoadOfTransfers(const JobView& job);

}  // namespace jarvis::tools
