// A file that is written beside its place and then renamed onto it. Its name cannot be foreseen, it
// is made anew and never through a link, so that nobody who may write into the directory can lead
// what is written elsewhere.
//
// Only regular files are replaced. A pipe or a character device at the place is written to as it
// is; a directory, a link, a socket or a disk is refused.
//
// Threads: one owner.
#pragma once

#include <string>
#include <string_view>

#include <sys/stat.h>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace jarvis::io {

// What stands at the place of an output.
enum class Place { kFree, kFile, kStream, kOther };
// kStream: a pipe or a character device, which takes bytes and loses none by it.
Place PlaceOf(const struct stat& status);
// Of a file `name` of an open directory, or of AT_FDCWD; links are not followed.
Place PlaceAt(int folder, const std::string& name);

enum class Existing { kReplace, kKeep };

class TemporaryFile {
 public:
  // Beside the file `name` of an open directory, or of AT_FDCWD, which must outlive this. Not
  // valid: errno says why, see WriteProblem.
  static TemporaryFile Beside(int folder, const std::string& name, mode_t mode = 0644);
  // The pipe or device at a path, links followed. Not valid: errno says why.
  static TemporaryFile Stream(const std::string& path);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();  // not renamed: the file is gone

  bool valid() const { return fd_.valid(); }
  bool stream() const { return beside_.empty(); }
  // All of it. False: errno says why; a reader who takes nothing for a minute is ETIMEDOUT.
  bool Write(std::string_view text);
  // Onto the file it lies beside, if that may be replaced; a stream just ends. The descriptor is
  // closed. False: errno says why, EEXIST if there is a file that is kept, and what was written is
  // gone.
  bool Finish(Existing existing = Existing::kReplace);

 private:
  TemporaryFile() = default;
  void OpenStream(int folder, const std::string& name, int flags);
  void Remove();

  int folder_ = -1;
  std::string name_;
  std::string beside_;  // empty: none
  FileDescriptor fd_;
};

// What errno says of a file that could not be written, in words.
std::string WriteProblem(int error);

// Is `entry` a name that a TemporaryFile beside `name` has?
bool IsTemporaryOf(std::string_view entry, std::string_view name);

}  // namespace jarvis::io
