// Tells what a trace is of, from its modules, names, shapes and metadata. See workload.h.
#pragma once

#include <string>
#include <vector>

#include "findings/one/category_analysis.h"
#include "findings/one/workload.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// `categories`: the trace's own, as CollectOperations makes them (with details). `units`: how many
// steps, iterations or passes the base of time found in it, all of them; 0: none. Linear in events,
// but for sorting.
Workload FindWorkload(const session::LoadedTrace& trace,
                      const std::vector<CategoryAnalysis>& categories, std::size_t units);

// The class of the module that owns the trace's GPU time; empty: none does, or none is recorded.
std::string ModelClass(const session::LoadedTrace& trace);

}  // namespace jarvis::findings
