// A file that is written beside its place and then renamed onto it. Its name cannot be foreseen, it
// is made anew and never through a link, so that nobody who may write into the directory can lead
// what is written elsewhere.
//
// Threads: one owner.
#pragma once

#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace jarvis::io {

class TemporaryFile {
 public:
  // Beside the file `name` of an open directory, or of AT_FDCWD, which must outlive this. Not
  // valid: errno says why.
  static TemporaryFile Beside(int folder, const std::string& name);
  // The same beside a path.
  static TemporaryFile Beside(const std::string& path);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();  // not renamed: the file is gone

  bool valid() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }
  // Onto the file it lies beside; a link there is replaced, not followed. The descriptor is closed.
  // False: errno says why, and the file is gone.
  bool Finish();

 private:
  TemporaryFile() = default;
  void Remove();

  int folder_ = -1;
  std::string name_;
  std::string beside_;  // empty: none
  FileDescriptor fd_;
};

// Is `entry` a name that a TemporaryFile beside `name` has?
bool IsTemporaryOf(std::string_view entry, std::string_view name);

}  // namespace jarvis::io
