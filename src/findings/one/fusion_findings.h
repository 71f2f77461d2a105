// Findings about kernels that could be one. Pointwise and normalisation chains of a model are one
// lever, however many kinds of them there are: one change fuses them all, and takes their launches
// away, too.
#pragma once

#include <vector>

#include "analysis/host/launches.h"
#include "findings/one/analysis.h"

namespace jarvis::findings {

std::vector<Finding> FusionFindings(const Analysis& analysis, const trace::EventStore& events,
                                    const tree::CallTree& tree, const analysis::Launches& launches);

}  // namespace jarvis::findings
