// Small text files that a user names: read whole, with a limit.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "io/file_policy.h"

namespace jarvis::io {

// The file's bytes. Errors: kNotAllowed, kBadValue where there is no such file, kTooLarge beyond
// the limit, kIo.
Result<std::string> ReadTextFile(const FilePolicy& policy, const std::string& given,
                                 std::size_t bytes_max);

// The same of a path that was resolved before: any file, but no link on the way.
Result<std::string> ReadUnchangedFile(const std::string& path, std::size_t bytes_max);

// The first bytes of a file, fewer if it is shorter: to see what it is.
Result<std::string> ReadStart(const FilePolicy& policy, const std::string& given,
                              std::size_t bytes);

}  // namespace jarvis::io
