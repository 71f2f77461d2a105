// Reads a part of a recording in memory that is bounded by the part.
#pragma once

#include "base/job.h"
#include "io/file_policy.h"
#include "trace/reader.h"
#include "trace/survey.h"
#include "trace/window.h"

namespace jarvis::trace {

// The events of a window of the file that `survey` is of, and what the survey says of the whole
// file: names, what is strange in it, how many elements it has. Reads only what can hold some of
// the window. kBadValue: no event is in the window.
Result<Trace> ReadWindow(const io::InputFile& file, const Survey& survey, const TraceWindow& window,
                         const ReadOptions& options, Job& job);

}  // namespace jarvis::trace
