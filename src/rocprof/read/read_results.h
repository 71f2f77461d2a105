// The JSON file of one process: kernels, counters, copies and agents in one document.
#pragma once

#include <string>

#include "base/job.h"
#include "rocprof/read/read_csv.h"

namespace jarvis::rocprof {

// Larger documents are not read: the CSV files of the same run have no such limit.
inline constexpr std::size_t kResultsBytesMax = std::size_t{1} << 30;

// Records of one counter for one dispatch, one per instance of the hardware block, are summed.
// A cut document gives the records before the cut. Errors: kNotATrace for a document of another
// kind, kTooLarge, those of opening it, kCancelled.
Result<FileContent> ReadResultsFile(const io::FilePolicy& files, const std::string& path,
                                    std::size_t dispatches_max, Job& job);
// The same for a text in memory.
Result<FileContent> ReadResults(std::string text, std::size_t dispatches_max, Job& job);

// All bytes of a file, inflated if it is gzip. Errors: kTooLarge, those of opening it, kCancelled.
Result<std::string> ReadWhole(const io::FilePolicy& files, const std::string& path,
                              std::size_t bytes_max, Job& job);

}  // namespace jarvis::rocprof
