// What was recorded while a trace's GPU graphs were captured, where it lies beside the trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"
#include "trace/reader.h"

namespace jarvis::session {

class LoadedTrace;

// A capture that was read, or that a list names.
struct CaptureRecording {
  std::shared_ptr<const LoadedTrace> trace;  // null: it is not there, or holds no captured graph
  std::optional<std::int64_t> rows;          // as its folder's list, or its name, tells
  std::string mode;                          // as the list tells: "FULL", "PIECEWISE"
  bool listed = false;                       // its folder has a list
};

// A capture that serves no replay, and why.
struct UnusedCapture {
  std::string path;
  std::string why;  // "has no captured graph": ends a sentence about the file
};

// How far the replays of a trace could be held against a capture.
struct CaptureUse {
  std::string named;                  // what the caller named; empty: what lies beside the trace
  std::vector<UnusedCapture> unused;  // of the files that were looked at
  // Where a step runs fewer rows than its graph was captured for: both, of the first such step.
  std::optional<std::int64_t> rows, captured_rows;
  std::vector<std::string> files;  // absolute, of the captures that were used; empty: none
  std::uint64_t replays = 0;       // of graphs, in the trace
  std::uint64_t aligned = 0;       // of them with a capture
  std::uint64_t kernels = 0;       // GPU work of all replays
  std::uint64_t aligned_kernels = 0;
  double gpu_us = 0;  // of all replays
  double aligned_us = 0;
};

// Takes captures from where the caller says (`named`, from ResolveCapture) or, where that is empty,
// from a directory "capture" or "graph_capture" beside the trace, and joins them with the trace
// (LoadedTrace::WithCapture). Nothing is ever written there. Of captures that fit a replay the one
// for the fewest rows counts that has enough; where the rows of a replay are not known, captures
// for different ones are not guessed between. A capture that does not fit is no error: the trace
// stays as it is, and capture() says why. Errors: kCancelled.
Status AddCapture(const io::FilePolicy& files, const std::string& named,
                  const trace::ReadOptions& options, Job& job, LoadedTrace* trace);

}  // namespace jarvis::session
