// What operations that no model rates must take, by the sizes in the names of their kernels
// (session/name_floors.h). Internal to the layer.
#pragma once

#include <vector>

#include "findings/one/category_analysis.h"
#include "ledger/kinds/kinds_of_work.h"
#include "perf/platform.h"
#include "trace/event_store.h"

namespace jarvis::findings {

// Fills Operation::least_percent, and what that assumes of experts. `platform` may be null.
void FindLeastTimes(const trace::EventStore& events, const ledger::KindsOfWork& kinds,
                    const perf::Platform* platform, std::vector<CategoryAnalysis>* categories);

}  // namespace jarvis::findings
