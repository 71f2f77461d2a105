// What takes the time that the user waits for: work of the GPU, communication that nothing hides
// and what the host did while the GPU had nothing to do, in one order.
#pragma once

#include <cstddef>
#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// Rank | Operation | Time | % Compute | Share | Achieved; empty: no GPU work.
std::string BottleneckTable(const findings::Analysis& analysis, std::size_t rows);

}  // namespace jarvis::documents
