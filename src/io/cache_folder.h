// A folder of ours below the user's cache directory: files that may be gone at any time, that are
// written whole and mapped to be read.
//
// Only the user may look into it (0700), as what is kept is what was recorded. A folder that
// belongs to somebody else, or that others may write to, is not used.
//
// Threads: any number, and any number of processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/job.h"
#include "base/result.h"

namespace jarvis::io {

// A file in memory, which cannot be written to.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }  // empty: there is none

 private:
  friend class CacheFolder;
  std::span<std::byte> bytes_;
};

class CacheFolder {
 public:
  // Nothing is made before something is written. Empty: a folder in which nothing is.
  explicit CacheFolder(std::string path) : path_(std::move(path)) {}

  // $XDG_CACHE_HOME/jarvis, or ~/.cache/jarvis; empty where neither is known.
  static std::string DefaultPath();

  const std::string& path() const { return path_; }
  std::vector<std::string> Names() const;
  // The whole file, which counts as just used. Empty if it is not there or cannot be read.
  MappedFile Map(const std::string& name) const;
  // Writes a file, in place of one of that name; the folder is made. Not where it would take more
  // than half of what the file system has left. Errors: kIo; kCancelled.
  Status Write(const std::string& name, std::span<const std::span<const std::byte>> pieces,
               const Job& job) const;
  // Removes the files that were not used for longest until the others have at most so many bytes
  // together, and what writers that were killed left behind.
  void Shrink(std::uint64_t bytes_max) const;

 private:
  FileDescriptor Open() const;

  std::string path_;
};

}  // namespace jarvis::io
