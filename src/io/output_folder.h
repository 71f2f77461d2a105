// A directory that a tool writes into, and the promise that nothing is replaced there but what we
// wrote ourselves. A list of our files with their hashes, kFileList, lies in the directory; a file
// that is not in it, or that was changed since, is the user's. Each file is noted in the list
// before it comes to its place, so that what a killed run wrote is known as well, and nothing that
// came there otherwise is taken for it.
//
//   JV_ASSIGN(const auto folder, OutputFolder::Open(policy, "out", job));
//   JV_TRY(folder->Claim({"a.csv", "data/b.json"}, /*overwrite=*/false));  // all or nothing
//   JV_ASSIGN(path, folder->Write("a.csv", text)); ...
//   JV_TRY(folder->Commit());
//
// Until it is destroyed nobody else has the directory open here: other calls and processes wait.
//
// Threads: Write and Create from several at once; the rest from one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"
#include "io/temporary_file.h"

namespace jarvis::io {

// Takes a piece of what is made.
using AddText = std::function<void(std::string_view piece)>;

class OutputFolder;

// A file of an OutputFolder on its way. Not finished: it is not there. Threads: one owner.
class OutputFile {
 public:
  Status Write(std::string_view piece);
  // The absolute path.
  Result<std::string> Finish();
  std::uint64_t bytes() const { return bytes_; }  // written so far

 private:
  friend class OutputFolder;
  struct Hash;
  struct FreeHash {
    void operator()(Hash* hash) const;
  };
  OutputFile(OutputFolder& folder, std::string name, FileDescriptor inner, TemporaryFile file);

  OutputFolder* folder_;
  std::string name_;
  FileDescriptor inner_;  // the directory that it lies in
  TemporaryFile file_;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<Hash, FreeHash> hash_;
};

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
  // first file in the way that is not ours; `overwrite` lets go of files alone. Pipes and character
  // devices are written to and stay.
  Status Claim(const std::vector<std::string>& names, bool overwrite);
  // REQUIRES: the name was claimed. The absolute path.
  Result<std::string> Write(const std::string& name, std::string_view content);
  // The same for what is made piece by piece and is never in memory as a whole.
  Result<std::string> Write(const std::string& name,
                            const std::function<void(const AddText&)>& make);
  // The same for a caller that writes the pieces itself. The file must not outlive this.
  Result<OutputFile> Create(const std::string& name);
  // Remembers what was written. Files that were claimed and not written stay ours.
  Status Commit();

 private:
  friend class OutputFile;
  struct Content {
    std::uint64_t bytes = 0;
    std::uint64_t hash = 0;
  };
  struct Known {
    bool claimed = false;  // a run that writes it has begun: half of it may lie beside its place
    bool free = false;     // there was nothing at its place
    std::vector<Content> contents;  // any of them is ours
  };

  OutputFolder(std::string path, FileDescriptor folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}
  Status ReadList();
  Status WriteList();
  // What runs that were killed left behind.
  void RemoveLeftovers();
  Status CheckOurs(const std::string& name) const;
  // Adds a line to the list.
  Status Note(const std::string& name, const Content& content);

  std::string path_;
  FileDescriptor folder_;  // locked
  std::mutex mutex_;       // guards what follows while files are written
  std::map<std::string, Known> known_;
  std::set<std::string> streams_;  // claimed: no files, and not in the list
};

}  // namespace jarvis::io
