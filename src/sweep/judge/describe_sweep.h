// One sweep of a comparison: where it comes from, what it warns of, and what is best in it.
#pragma once

#include <string>

#include "sweep/draw/page.h"
#include "sweep/measure/facts.h"

namespace jarvis::sweep {

// `other_work`: it did not run the baseline's.
PageSweep DescribeSweep(const SweepFacts& facts, const std::string& label, bool other_work);

}  // namespace jarvis::sweep
