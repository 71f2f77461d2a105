// The files that rocprofv3 left below a directory, put together by the process that wrote them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "io/file_policy.h"
#include "rocprof/read/read_csv.h"

namespace jarvis::rocprof {

struct ProcessFiles {
  Process process;  // what the paths tell: config, folder, host, prefix, pid, pass
  std::vector<std::pair<FileKind, std::string>> files;
};

struct FoundFiles {
  std::vector<ProcessFiles> processes;  // in natural order of their paths
  std::vector<std::string> unreadable;  // binary traces, which we do not read
};

// `given`: a sweep, a run, a pass, any directory above the files, or one file (its agent_info.csv
// is taken too). Errors: kTraceNotFound if there is no file of rocprofv3, those of the policy.
Result<FoundFiles> FindFiles(const io::FilePolicy& policy, const std::string& given);

}  // namespace jarvis::rocprof
