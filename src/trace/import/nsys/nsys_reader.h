// SQLite exports of NVIDIA Nsight Systems (nsys export --type=sqlite), of any version: by columns.
#pragma once

#include "io/file_policy.h"
#include "io/sqlite_file.h"
#include "trace/reader.h"

namespace jarvis::trace {

// `file`: the one that `tables` is of. REQUIRES: IsNsysExport(tables). Errors: kNotATrace where
// nothing was recorded; kTooLarge; kCancelled; kIo.
Result<Trace> ReadNsysExport(const io::InputFile& file, io::SqliteFile& tables,
                             const ReadOptions& options, Job& job);

}  // namespace jarvis::trace
