// A trace with further events behind its own, for a viewer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/job.h"
#include "io/file_policy.h"
#include "io/gzip_file.h"

namespace jarvis::session {

// Copies the file at `path` event by event, in bounded memory; `events` are JSON elements, each
// with a comma in front. What is no JSON object is left out, and so is the half of an event that a
// truncated file ends with. Closes the file.
Status WriteAnnotated(const io::FilePolicy& files, const std::string& path,
                      std::uint64_t trace_bytes_max, std::string_view events, io::GzipFile& out,
                      Job& job);

}  // namespace jarvis::session
