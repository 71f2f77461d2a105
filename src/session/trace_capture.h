// What was recorded while a trace's GPU graphs were captured, where it lies beside the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"
#include "trace/reader.h"

namespace jarvis::session {

class LoadedTrace;

// How far the replays of a trace could be held against a capture.
struct CaptureUse {
  std::vector<std::string> files;  // absolute, of the captures that were used; empty: none
  std::uint64_t replays = 0;       // of graphs, in the trace
  std::uint64_t aligned = 0;       // of them with a capture
  std::uint64_t kernels = 0;       // GPU work of all replays
  std::uint64_t aligned_kernels = 0;
  double gpu_us = 0;  // of all replays
  double aligned_us = 0;
};

// Looks for captures in a directory "capture" or "graph_capture" beside the trace, which nothing is
// ever written to, and joins them with the trace (LoadedTrace::WithCapture). Of captures that fit a
// replay the one for the fewest rows counts that has enough; where the rows of a replay are not
// known, captures for different ones are not guessed between. Files that are no trace, or that the
// policy does not allow, are passed over. Errors: kCancelled.
Status AddCapture(const io::FilePolicy& files, const trace::ReadOptions& options, Job& job,
                  LoadedTrace* trace);

}  // namespace jarvis::session
