// The page of a comparison as a file.
#pragma once

#include <string>

#include "base/job.h"
#include "base/result.h"
#include "documents/comparative_report.h"
#include "io/file_policy.h"

namespace jarvis::tools {

// Writes the page into a directory, which is made; the page's path. `overwrite`: a file in the way
// too that is not ours.
Result<std::string> WritePairPage(const io::FilePolicy& files, const std::string& directory,
                                  const documents::ComparativeSide& candidate,
                                  const documents::ComparativeSide& baseline, bool overwrite,
                                  Job& job);

}  // namespace jarvis::tools
