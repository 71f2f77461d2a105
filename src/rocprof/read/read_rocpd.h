// rocpd databases of rocprofv3: dispatches and their counters.
#pragma once

#include <string>

#include "base/job.h"
#include "rocprof/read/read_csv.h"

namespace jarvis::rocprof {

// Values of one counter for one dispatch, one per instance of the hardware block, are summed;
// streaming counters, which have times of their own, are left out. Of a merged database all
// processes are read as one. Errors: kNotATrace for a database of another kind, those of opening
// it, kCancelled.
Result<FileContent> ReadRocpdFile(const io::FilePolicy& files, const std::string& path,
                                  std::size_t dispatches_max, Job& job);

}  // namespace jarvis::rocprof
