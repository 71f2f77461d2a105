// Fixes that the catalogue gives a line of the ledger by data alone (levers::LineRule): by what
// kind of work its kernels do, by which library, in which order. They need no shapes, no ops and no
// model, so that a recording which has none is told what to change as well.
#pragma once

#include <span>
#include <vector>

#include "findings/one/finding.h"

namespace jarvis::findings {

struct Analysis;
struct Calls;

// Adds those of kernels that no finding of the categories, of `fusions` or of `structures` sizes,
// each kernel in at most one: of the first fix whose rule holds. Then `structures` claim their
// operations (Operation::claimed): what one of them sizes is not told again as without an estimate.
// n log n in the GPU's events.
void AddLineFixes(const Calls& calls, std::span<const Finding> fusions, Analysis* analysis,
                  std::vector<Finding>* structures);

}  // namespace jarvis::findings
