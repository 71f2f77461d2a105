// The work of a trace's calls by a set of performance models: which op owns each piece of GPU work,
// and what that op had to do. Every distinct call is evaluated once for a trace and a set of
// models, whichever tables, findings and answers are made of it.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/work_calls.h"
#include "base/job.h"
#include "base/result.h"
#include "perf/model_rows.h"

namespace jarvis::session {

class LoadedTrace;

struct TraceWork {
  std::shared_ptr<const perf::ModelRows> models;  // null: the built-in ones
  // Launchers are those of the trace's own attribution, in the same order; categories go by the
  // models. Null: it is the trace's own.
  std::unique_ptr<const analysis::Attribution> attribution;
  std::deque<perf::OpWork> works;         // what the calls point to
  std::vector<analysis::WorkCall> calls;  // by start

  const perf::ModelRows& rows() const { return models ? *models : perf::BuiltinRows(); }
};

// `models` null: the built-in ones. Kept with the trace; valid as long as the trace is, too.
// Errors: kCancelled.
Result<std::shared_ptr<const TraceWork>> WorkOf(
    const LoadedTrace& trace, const std::shared_ptr<const perf::ModelRows>& models, const Job& job);

}  // namespace jarvis::session
