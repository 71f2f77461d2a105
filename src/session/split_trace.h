// Parts of a trace as traces of their own: some of an inference server's steps each.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"
#include "io/gzip_file.h"
#include "session/loaded_trace.h"

namespace jarvis::session {

// What the host does from `begin_us` on and before `end_us`, and the GPU work that it launches
// there, whenever that runs.
struct TracePart {
  double begin_us = 0;
  double end_us = std::numeric_limits<double>::infinity();
  io::GzipFile* out = nullptr;   // closed when the part is written
  std::uint64_t gpu_events = 0;  // written
};

// Reads the trace's file once, in bounded memory, and writes all parts. Events stay as they are
// written; names of processes and threads are in every part. GPU work without a launch in the
// recording, marks and counters go by their own time.
Status WriteTraceParts(const io::FilePolicy& files, const LoadedTrace& trace,
                       std::uint64_t trace_bytes_max, std::vector<TracePart>* parts, Job& job);

}  // namespace jarvis::session
