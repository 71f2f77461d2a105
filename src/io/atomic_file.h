// Files that are whole or not there: written beside their place, then renamed onto it. A pipe or a
// character device at the place is written to; links, directories and the like are refused, see
// io/temporary_file.h.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "io/temporary_file.h"

namespace jarvis::io {

// Writes `content` as `path`; directories on the way are made. A reader sees the old file or the
// new one, never a torn one. kExists: there is something that is to be kept.
Status WriteFileAtomically(const std::string& path, std::string_view content,
                           Existing existing = Existing::kReplace);

// The same for a file `name` of an open directory; `path` is for messages.
Status WriteFileAt(int folder, const std::string& name, std::string_view content,
                   const std::string& path, Existing existing = Existing::kReplace);

// For a path that the person at the keyboard gave: links are followed, /dev/stdout is where it
// leads.
Status WriteGivenFile(const std::string& given, std::string_view content);
// Whether there is something at that path that WriteGivenFile would replace.
bool IsReplaced(const std::string& given);

Status MakeDirectories(const std::string& path);

}  // namespace jarvis::io
