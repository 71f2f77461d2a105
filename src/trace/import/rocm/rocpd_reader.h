// Databases of rocprofv3 (ROCm 7) and rocprof-sys: rocpd, schema 3 and 4.
#pragma once

#include "io/file_policy.h"
#include "io/sqlite_file.h"
#include "trace/reader.h"

namespace jarvis::trace {

// `file`: the one that `tables` is of. REQUIRES: rocprof::RocpdGroups(tables) is not empty. Errors:
// kNotATrace where nothing was recorded; kTooLarge; kCancelled; kIo.
Result<Trace> ReadRocpd(const io::InputFile& file, io::SqliteFile& tables,
                        const ReadOptions& options, Job& job);

}  // namespace jarvis::trace
