// Opening below a directory so that no symbolic link can lead out of it: every component is opened
// by itself and must not be a link. Paths are resolved beforehand; a link that is met here was put
// there since.
//
// Threads: any. Errors are in errno.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

namespace jarvis::io {

// The components of a path, without empty ones and ".".
std::vector<std::string> PathParts(std::string_view path);

// The absolute path without links, "." and "..", walked as the kernel walks it; what is not there
// is taken as it is written, so that the answer says nothing about what exists.
std::string WithoutLinks(const std::string& absolute);

// Is `path` the directory `root` or below it? Both absolute and resolved.
bool IsBelow(std::string_view path, std::string_view root);

enum class Missing { kFail, kMake };  // directories on the way that are not there

// A directory below `root`, for use as the start of another walk; "" is `root` itself.
FileDescriptor OpenFolderBelow(int root, std::string_view relative, Missing missing);

// A file below `root`. `flags` as of open(2); O_NOFOLLOW, O_NONBLOCK and O_CLOEXEC are added, so
// that a pipe or a device does not make us wait.
FileDescriptor OpenFileBelow(int root, std::string_view relative, int flags);

// What lies in an open directory, in no order, without "." and "..". `folder` is any descriptor of
// it, O_PATH too, and is not moved. Reading ends after `entries_max`; false: errno says why.
struct FolderEntry {
  enum class Kind { kFile, kFolder, kOther };
  std::string name;
  Kind kind = Kind::kOther;  // links are not followed
};
bool ReadFolder(int folder, std::size_t entries_max, std::vector<FolderEntry>* entries);

}  // namespace jarvis::io
