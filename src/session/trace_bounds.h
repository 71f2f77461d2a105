// What of each line of a trace's books could be saved at most.
#pragma once

#include <memory>

#include "base/job.h"
#include "base/result.h"
#include "ledger/books/bounds.h"
#include "perf/model_rows.h"
#include "perf/platform.h"

namespace jarvis::session {

class LoadedTrace;

// Kinds that compute have a floor where models know what their ops must do, and the platform how
// fast that goes. `platform` null: no such floors. `models` null: the built-in ones.
// Errors: kCancelled.
Result<ledger::Bounds> BoundsOf(const LoadedTrace& trace, const perf::Platform* platform,
                                const std::shared_ptr<const perf::ModelRows>& models,
                                const Job& job);

}  // namespace jarvis::session
