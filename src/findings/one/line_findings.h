// Fixes that the catalogue gives a line of the ledger by data alone (levers::LineRule): by what kind
// of work its kernels do, by which library, in which order. They need no shapes, no ops and no model,
// so that a recording which has none is told what to change as well.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/predicates.h"
#include "ledger/kinds/kinds_of_work.h"

namespace jarvis::findings {

// Of kernels that are not `covered` (by GPU event: a finding that says what it saves is about it), each in at
// most one finding: the first fix whose rule holds. n log n in the GPU's events.
std::vector<Finding> FindLineFixes(const Calls& calls, const ledger::KindsOfWork& kinds,
                                   const WorkContext& context,
                                   const std::vector<CategoryAnalysis>& categories,
                                   const std::vector<bool>& covered);

}  // namespace jarvis::findings
