// Which files the callers of tools may name. Every path that comes from outside goes through here.
//
// A path is resolved (links, "..") and then checked, and it is opened one component at a time
// without following links, so that nobody can put a link in its way in between. Messages name the
// path as it was given and never tell whether a file outside exists.
//
// Threads: const after Limit(); any number of threads. Copies share their directories.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace jarvis::io {

struct FileRules {
  std::vector<std::string> allow_roots;  // inputs are read below these alone; empty: nowhere
  std::string output_root;               // outputs are written below it alone; empty: nowhere
};

// An input, open: a regular file that the policy allows.
struct InputFile {
  FileDescriptor fd;
  std::string given;             // as the caller wrote it
  std::string path;              // absolute, without links; of a member: and "#" and its name
  std::uint64_t size = 0;        // bytes
  std::int64_t modified_ns = 0;  // since 1970
  // Tell two contents of one size and time of change apart: nobody can set these.
  std::int64_t changed_ns = 0;  // of the inode, since 1970
  std::uint64_t inode = 0;
  std::string member;  // the file that is meant inside this one, an archive; mostly empty
};

// The same open file once more. Both share the place at which they are read: ByteSources go by
// places of their own, whoever else reads one seeks first.
Result<InputFile> AnotherOf(const InputFile& file);

class FilePolicy {
 public:
  // Any path: for the commands of the person at the keyboard.
  FilePolicy() = default;
  // Relative rules are below the working directory. kBadValue: a root that is no directory.
  static Result<FilePolicy> Limit(const FileRules& rules);

  // `given`: absolute, relative (to the working directory or to a root), "~/..." or "file://...".
  // Where no such file is, "ARCHIVE#NAME" is a file inside an archive: whatever the name is, it is
  // looked for there alone, by io::OpenBytes, and is no path.
  // Errors: kNotAllowed, kTraceNotFound, kNotATrace (a directory, a pipe, a device), kIo.
  Result<InputFile> OpenInput(const std::string& given) const;
  // The same; a directory stands for the one trace in it, by the endings of names.
  Result<InputFile> OpenTrace(const std::string& given) const;
  // The two halves of OpenInput.
  Result<std::string> ResolveInput(const std::string& given) const;
  Result<InputFile> OpenResolved(const std::string& given, const std::string& path) const;

  // A file at a path that was resolved before, by ResolveOutput or by an InputFile: any path, but
  // no part of it may have become a link since. kIo names the path alone.
  static Result<InputFile> OpenUnchanged(const std::string& path);

  // A directory that the caller names, opened as files are.
  struct InputFolder {
    FileDescriptor fd;
    std::string path;  // absolute, without links
  };
  // Errors: kNotAllowed; kTraceNotFound where there is no directory.
  Result<InputFolder> OpenInputFolder(const std::string& given) const;

  // The files below a directory whose name ends in one of `endings`, at most `files_max` of them
  // and `depth_max` directories down, as absolute paths in natural order ("rank2" before "rank10").
  // Hidden files and directories are passed over, links are not followed. The list is empty if
  // `given` is no directory. Errors: kNotAllowed; kTooLarge beyond the limit.
  Result<std::vector<std::string>> ListFolder(const std::string& given,
                                              const std::vector<std::string>& endings,
                                              int depth_max, std::size_t files_max) const;

  bool may_write() const { return limits_ == nullptr || !limits_->output_root.empty(); }
  // The path that an output argument means; relative ones are below the output root, or the
  // working directory where there is no limit.
  Result<std::string> ResolveOutput(const std::string& given) const;
  // The directory at a path from ResolveOutput, made if need be.
  Result<FileDescriptor> OpenOutputFolder(const std::string& path) const;
  // Where outputs go that nobody gave a place; for ResolveOutput.
  std::string DefaultOutput(const std::string& name) const;

 private:
  struct Root {
    std::string path;
    FileDescriptor fd;
  };
  struct Limits {
    std::vector<Root> allow;
    std::string output_root;
  };

  const Root* RootOf(const std::string& path) const;
  std::string Base(const std::string& relative) const;
  Error Refused(const std::string& given) const;
  Result<InputFile> OpenNamed(const std::string& given) const;
  Error NotWritable(const std::string& given) const;

  std::shared_ptr<const Limits> limits_;  // null: none
};

}  // namespace jarvis::io
