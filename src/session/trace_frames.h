// The frames of time of a trace, made once whoever asks.
#pragma once

#include <memory>
#include <vector>

#include "analysis/frames/iterations.h"
#include "analysis/frames/phases.h"
#include "analysis/frames/time_frames.h"
#include "base/job.h"
#include "base/result.h"
#include "ledger/books/books.h"

namespace jarvis::session {

class LoadedTrace;

struct TraceFrames {
  analysis::TimeFrames frames;
  analysis::Phases phases;
  std::vector<analysis::Iteration> iterations;  // of an inference server
  std::vector<analysis::Iteration> repeats;     // of any other program
  std::shared_ptr<const ledger::KindsOfWork> kinds;
  ledger::Books books;
};

// Kept with the trace. Errors: kCancelled.
Result<std::shared_ptr<const TraceFrames>> FramesOf(const LoadedTrace& trace, const Job& job);

}  // namespace jarvis::session
