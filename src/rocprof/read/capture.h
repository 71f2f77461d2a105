// All that rocprofv3 recorded below a path.
#pragma once

#include <string>

#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"
#include "rocprof/read/records.h"

namespace jarvis::rocprof {

struct CaptureOptions {
  int threads = 0;           // 0: one per core
  bool prefer_json = false;  // results.json before the CSV files: for reports about whole runs
};

// Reads the files that FindFiles finds, joins what belongs together, and gives ranks (ranks.h).
// What cannot be read is a warning, not an error. Counters of one dispatch are joined by dispatch
// id and agent; those of several passes by rank, kernel, grid and occurrence (join_passes.h).
// Errors: those of FindFiles, kCancelled.
Result<Capture> ReadCapture(const io::FilePolicy& files, const std::string& given,
                            const CaptureOptions& options, Job& job);

}  // namespace jarvis::rocprof
