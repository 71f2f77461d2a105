// The reference's report about JAX: its tables are about kernels, as it links no ops. Oddities as
// in docs/differences.md.
#pragma once

#include <vector>

#include "table/table.h"
#include "trace/event_store.h"
#include "trace/metadata.h"

namespace jarvis::compat {

// Whether the reference makes its report about JAX of it: a profile of XLA.
bool IsJaxProfile(const trace::EventStore& events);

// In its order: gpu_timeline, gpu_events_averages, kernel_launchers and its summaries, what XLA
// made, and a table a category of kernels that have a model.
std::vector<Table> TraceLensJaxReport(const trace::EventStore& events,
                                      const std::vector<trace::TrackNames>& names);

}  // namespace jarvis::compat
