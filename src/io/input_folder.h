// Directories that a caller names as input.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/below.h"
#include "io/file_policy.h"

namespace jarvis::io {

// Is it a directory that the policy allows?
bool IsInputFolder(const FilePolicy& policy, const std::string& given);

// What lies directly in the directory, in no order. Errors: kNotAllowed, kTraceNotFound; kTooLarge
// for more than `entries_max` entries; kIo.
Result<std::vector<FolderEntry>> EntriesOfFolder(const FilePolicy& policy, const std::string& given,
                                                 std::size_t entries_max);

// Absolute paths of the files directly in the directory whose names end in `ending`, sorted. They
// are to be opened through the policy like any other. Errors: kNotAllowed, kTraceNotFound;
// kTooLarge for a directory of more than `entries_max` entries; kIo.
Result<std::vector<std::string>> FilesInFolder(const FilePolicy& policy, const std::string& given,
                                               std::string_view ending, std::size_t entries_max);

}  // namespace jarvis::io
