// A directory that a tool writes into, and the promise that nothing is replaced there but what we
// wrote ourselves. A list of our files with their hashes, kFileList, lies in the directory; a file
// that is not in it, or that was changed since, is the user's.
//
//   JV_ASSIGN(const auto folder, OutputFolder::Open(policy, "out", job));
//   JV_TRY(folder->Claim({"a.csv", "data/b.json"}, /*overwrite=*/false));  // all or nothing
//   JV_ASSIGN(path, folder->Write("a.csv", text)); ...
//   JV_TRY(folder->Commit());
//
// Until it is destroyed nobody else has the directory open here: other calls and processes wait.
//
// Threads: Write, PathFor and Adopt from several at once; the rest from one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/job.h"
#include "base/result.h"
#include "io/atomic_file.h"
#include "io/file_policy.h"

namespace jarvis::io {

class OutputFolder {
 public:
  static constexpr const char* kFileList = ".jarvis-files";

  // `path`: from FilePolicy::ResolveOutput. Makes the directory; waits while another has it.
  // To have two open at once, open them in the order of their paths.
  static Result<std::unique_ptr<OutputFolder>> Open(const FilePolicy& policy,
                                                    const std::string& path, Job& job);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() = default;

  const std::string& path() const { return path_; }  // absolute
  // What is going to be written: names below the directory, "/" between parts. kExists names the
  // first file in the way that is not ours; `overwrite` lets go of files, not of directories.
  Status Claim(const std::vector<std::string>& names, bool overwrite);
  // REQUIRES: the name was claimed. The absolute path.
  Result<std::string> Write(const std::string& name, std::string_view content);
  // The same for what is made piece by piece and is never in memory as a whole.
  Result<std::string> Write(const std::string& name,
                            const std::function<void(const AddText&)>& make);
  // For a library that writes by path: where to let it write a claimed name of the directory
  // itself, and what to call when it has.
  std::string PathFor(const std::string& name) const;
  Result<std::string> Adopt(const std::string& name);
  // Remembers what was written. Files that were claimed and not written stay ours.
  Status Commit();

 private:
  struct Known {
    bool pending = true;  // claimed, perhaps half of it there: ours whatever it holds
    std::uint64_t bytes = 0;
    std::uint64_t hash = 0;
  };

  OutputFolder(std::string path, FileDescriptor folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}
  Status ReadList();
  Status WriteList();
  // What a run that was killed left behind of these files.
  void RemoveLeftovers(const std::vector<std::string>& names);
  Status CheckOurs(const std::string& name) const;

  std::string path_;
  FileDescriptor folder_;  // locked
  std::mutex mutex_;       // guards known_ while files are written
  std::map<std::string, Known> known_;
};

}  // namespace jarvis::io
