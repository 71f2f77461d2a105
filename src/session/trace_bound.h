// What bounds a trace's step: the one answer that every tool and report gives.
#pragma once

#include "base/job.h"
#include "base/result.h"
#include "ledger/books/step_bound.h"

namespace jarvis::session {

class LoadedTrace;

// Without what Python stacks cost to record. Errors: kCancelled.
Result<ledger::StepBound> BoundOf(const LoadedTrace& trace, const Job& job);
// The same where the books are at hand.
Result<ledger::StepBound> BoundOf(const LoadedTrace& trace, const analysis::BaseOfTime& base,
                                  const ledger::Books& books, const Job& job);

}  // namespace jarvis::session
