// Rates and candidates of a comparison in words, as its findings and its levers have them.
#pragma once

#include <string>

#include "findings/two/pair.h"

namespace jarvis::documents {

// "36 %" of 0.36.
std::string PercentText(double share);
// " (474 TFLOPS/s, 36 % of its peak; the baseline 613 ...)"; empty: not known, or null. Rate and
// share are of one resource.
std::string BothRates(const findings::BalanceLine* line);
// "at the ratio of the bandwidths: 12.7 ms"
std::string TargetText(const findings::PairLever& lever);

}  // namespace jarvis::documents
