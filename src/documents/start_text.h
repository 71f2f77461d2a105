// What is said first of a recording of a program's start.
#pragma once

#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// "5 kernels and 0.00781 ms of GPU work are too little to rank. Start-up takes ...". Empty: there
// is enough.
std::string TooLittleSentence(const findings::Analysis& analysis);
// "468 ms were recorded; the first GPU work begins after 339 ms: ...". Empty: start-up is no large
// part of the recording, or nothing says how long it is.
std::string RecordedSpanSentence(const findings::Analysis& analysis);
// "Building the GPU graph took 0.0538 ms, more than its 2 replays save ...". Empty: it did not.
std::string CostlyGraphSentence(const findings::Analysis& analysis);

// The figures of these sentences. Empty: there are none.
std::string StartTable(const findings::Analysis& analysis);

}  // namespace jarvis::documents
