// Findings about kernels that could be one. Pointwise and normalisation chains of a model are one
// lever, however many kinds of them there are: one change fuses them all, and takes their launches
// away, too.
#pragma once

#include <vector>

#include "analysis/host/launches.h"
#include "findings/one/analysis.h"

namespace jarvis::findings {

// Whether an op is one of those that turn queries and keys by their positions, by its code: they go
// with the chain of the rotation even where shapes do not show that they are of it.
bool IsOfRotation(const Operation& operation);
bool TakesRotation(const Finding& finding);

std::vector<Finding> FusionFindings(const Analysis& analysis, const trace::EventStore& events,
                                    const tree::CallTree& tree, const analysis::Launches& launches);

}  // namespace jarvis::findings
