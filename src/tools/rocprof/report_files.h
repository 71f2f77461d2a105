// The reports about rocprofv3 files on the disk.
#pragma once

#include <string>

#include "io/file_policy.h"
#include "rocprof/read/records.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {

// One workbook per process: DIRECTORY/<T>thread/individual_reports/perf_<C>ch_rank<R>.xlsx.
Status WriteRocprofReports(const io::FilePolicy& files, const rocprof::Capture& capture,
                           const std::string& directory, bool compatible, bool overwrite, Job& job,
                           Answer* answer);

}  // namespace jarvis::tools
