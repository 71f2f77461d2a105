// A folder of ours below the user's cache directory: files that may be gone at any time, that are
// written whole and read whole.
//
// A marker lies in it. Where there is none and anything lies there that has no name of ours, the
// folder is somebody else's: nothing is read from it or written to it. Nothing is ever removed or
// replaced but what has both a name and a head of ours. The marker holds a key, which is random,
// and files are hashed with it: of what came there without the key, or was changed since, nothing
// is believed.
//
// Only the user may look into the files (0600; the folder is made with 0700), as what is kept is
// what was recorded. A folder that belongs to somebody else, or that others may write to, is not
// used.
//
// Threads: any number, and any number of processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/job.h"
#include "base/result.h"

namespace jarvis::io {

// What a file held when it was read: copied, or mapped under a lease (io/leased_file.h), so that
// what is done to the file afterwards neither changes it nor takes its pages away. Cannot be
// written to.
class CachedBytes {
 public:
  CachedBytes() = default;
  CachedBytes(CachedBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  CachedBytes& operator=(CachedBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~CachedBytes();

  std::span<const std::byte> bytes() const { return bytes_; }  // empty: there is none

 private:
  friend class CacheFolder;
  std::span<std::byte> bytes_;
};

class CacheFolder {
 public:
  static constexpr const char* kMarker = ".jarvis-cache";

  // Nothing is made before something is written. Empty: a folder in which nothing is.
  explicit CacheFolder(std::string path) : path_(std::move(path)) {}

  // $XDG_CACHE_HOME/jarvis, or ~/.cache/jarvis; empty where neither is known.
  static std::string DefaultPath();
  // Only such names are used: "<16 hex digits>-<hex digits>-<12 hex digits>.trace" and
  // "<16 hex digits>.stamp".
  static bool IsName(const std::string& name);

  const std::string& path() const { return path_; }
  // Why what is there is not used, and what to do; empty: it is, or there is nothing yet.
  std::string Refusal() const;
  std::vector<std::string> Names() const;
  // The whole file, which counts as just used. Empty if it is not there, cannot be read or is not
  // as it was written.
  CachedBytes Read(const std::string& name) const;
  // Writes a file, in place of one of that name; the folder is made. Not where it would take more
  // than half of what the file system has left. REQUIRES: IsName(name). Errors: kIo, also if the
  // folder or the file there is not ours; kCancelled.
  Status Write(const std::string& name, std::span<const std::span<const std::byte>> pieces,
               const Job& job) const;
  // Removes the files that were not used for longest until the others have at most so many bytes
  // together, and what writers that were killed left behind.
  void Shrink(std::uint64_t bytes_max) const;

 private:
  std::string path_;
};

}  // namespace jarvis::io
