// The report's rows of work by category: category_data/<cat>_ops.csv.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "perf/model_rows.h"
#include "perf/platform.h"
#include "session/loaded_trace.h"
#include "table/table.h"

namespace jarvis::findings {

// By category key: the rows of unified_perf_summary, with two columns more, enhanced_category and
// display_name; replayed kernels as findings have them, below the ops of their capture or by name.
// Call stacks are of each row's first call. `models` null: the built-in ones.
Result<std::map<std::string, Table>> OpsTables(const session::LoadedTrace& recorded,
                                               const perf::Platform* platform,
                                               const std::shared_ptr<const perf::ModelRows>& models,
                                               const Job& job);

}  // namespace jarvis::findings
