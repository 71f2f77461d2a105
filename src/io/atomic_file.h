// Files that are whole or not there: written beside their place, then renamed onto it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jarvis::io {

// Writes `content` as `path`; directories on the way are made. A reader sees the old file or the
// new one, never a torn one. A link at that place is replaced, not followed.
Status WriteFileAtomically(const std::string& path, std::string_view content);

// The same for a file `name` of an open directory; `path` is for messages.
Status WriteFileAt(int folder, const std::string& name, std::string_view content,
                   const std::string& path);

// The same for what is made piece by piece: `make` hands each on to the function that it is given.
using AddText = std::function<void(std::string_view piece)>;
Status WritePiecesAt(int folder, const std::string& name,
                     const std::function<void(const AddText&)>& make, const std::string& path);

Status MakeDirectories(const std::string& path);

}  // namespace jarvis::io
