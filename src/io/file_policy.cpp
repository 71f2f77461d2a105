#include "io/file_policy.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/text.h"
#include "io/atomic_file.h"
#include "io/below.h"

namespace jarvis::io {
namespace {

constexpr std::size_t kGivenBytesMax = 4096;
constexpr std::size_t kShownBytesMax = 200;

std::string Shown(const std::string& given) {
  return std::string(Utf8Prefix(given, kShownBytesMax));
}

std::string WorkingDirectory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

// An address such as https://...; file:// is a path.
bool IsAddress(std::string_view given) {
  const std::size_t colon = given.find("://");
  return colon != std::string_view::npos && colon > 0 && !given.starts_with("file://") &&
         given.find('/') > colon;
}

Result<std::string> Expanded(std::string given) {
  if (given.empty()) return Fail(ErrorCode::kTraceNotFound, "the path is empty");
  if (given.size() > kGivenBytesMax || given.find('\0') != std::string::npos) {
    return Fail(ErrorCode::kBadValue, "a path has at most 4096 bytes and no NUL among them");
  }
  if (IsAddress(given)) {
    return Fail(
        ErrorCode::kNotAllowed,
        fmt::format("\"{}\" is an address: files are read from this machine alone", Shown(given)),
        "download the file, then give its path");
  }
  if (given.starts_with("file://")) given.erase(0, 7);
  if (given == "~" || given.starts_with("~/")) {
    if (const char* home = std::getenv("HOME")) given.replace(0, 1, home);
  }
  return given;
}

// Files that the kernel makes up: of no use as input, and they tell about the process.
bool IsKernelFile(int fd) {
  struct statfs system {};
  if (::fstatfs(fd, &system) != 0) return false;
  const auto type = static_cast<unsigned long>(system.f_type);
  return type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC || type == DEBUGFS_MAGIC ||
         type == TRACEFS_MAGIC;
}

tl::unexpected<Error> OpenFailed(const std::string& given, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return Fail(ErrorCode::kTraceNotFound, fmt::format("no file at \"{}\"", Shown(given)),
                "give the path of a trace (.json or .json.gz) that torch.profiler exported");
  }
  return Fail(ErrorCode::kIo,
              fmt::format("cannot open \"{}\": {}", Shown(given), std::strerror(error)));
}

// The file in a directory that may have been meant.
std::string FirstTraceIn(const std::string& folder) {
  constexpr int kEntriesMax = 10'000;
  std::string first;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (int i = 0; !error && entries != std::filesystem::directory_iterator() && i < kEntriesMax;
       ++i, entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    const bool fits = name.ends_with(".json") || name.ends_with(".json.gz");
    if (fits && (first.empty() || name < first)) first = name;
  }
  return first.empty() ? first : folder + "/" + first;
}

tl::unexpected<Error> NoRegularFile(const std::string& given, const std::string& path,
                                    bool is_folder) {
  if (!is_folder) {
    return Fail(ErrorCode::kNotATrace, fmt::format("\"{}\" is not a regular file", Shown(given)));
  }
  const std::string first = FirstTraceIn(path);
  return Fail(ErrorCode::kNotATrace,
              fmt::format("\"{}\" is a directory; name one trace file in it", Shown(given)),
              first.empty() ? "" : fmt::format("the first one in it is \"{}\"", first));
}

}  // namespace

Result<FilePolicy> FilePolicy::Limit(const FileRules& rules) {
  const std::filesystem::path here = WorkingDirectory();
  auto limits = std::make_shared<Limits>();
  for (const std::string& given : rules.allow_roots) {
    JV_ASSIGN(const std::string expanded, Expanded(given));
    Root root;
    root.path = WithoutLinks((here / expanded).string());
    root.fd = FileDescriptor(::open(root.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root.fd.valid()) {
      return Fail(ErrorCode::kBadValue, fmt::format("\"{}\" is no directory that can be opened: {}",
                                                    Shown(given), std::strerror(errno)));
    }
    limits->allow.push_back(std::move(root));
  }
  if (!rules.output_root.empty()) {
    JV_ASSIGN(const std::string expanded, Expanded(rules.output_root));
    limits->output_root = WithoutLinks((here / expanded).string());
  }
  FilePolicy policy;
  policy.limits_ = std::move(limits);
  return policy;
}

Error FilePolicy::Refused(const std::string& given) const {
  constexpr std::size_t kRootsMax = 5;
  std::string roots;
  for (std::size_t i = 0; i < limits_->allow.size() && i < kRootsMax; ++i)
    roots += (roots.empty() ? "" : ", ") + limits_->allow[i].path;
  if (limits_->allow.size() > kRootsMax) roots += ", ...";
  if (roots.empty()) {
    return {ErrorCode::kNotAllowed,
            fmt::format("\"{}\" may not be read: this server reads no directory", Shown(given)),
            "restart it with --allow-root DIR"};
  }
  return {ErrorCode::kNotAllowed,
          fmt::format("\"{}\" is outside the directories that this server reads: {}", Shown(given),
                      roots),
          "give a path below them, or restart it with --allow-root DIR too"};
}

Error FilePolicy::NotWritable(const std::string& given) const {
  if (!may_write()) {
    return {ErrorCode::kNotAllowed, "this server writes no files",
            "restart it with --output-root DIR"};
  }
  return {ErrorCode::kNotAllowed,
          fmt::format("\"{}\" is outside the directory that this server writes to: {}",
                      Shown(given), limits_->output_root),
          "give a relative path, or restart it with another --output-root DIR"};
}

const FilePolicy::Root* FilePolicy::RootOf(const std::string& path) const {
  const auto found = std::find_if(limits_->allow.begin(), limits_->allow.end(),
                                  [&](const Root& root) { return IsBelow(path, root.path); });
  return found == limits_->allow.end() ? nullptr : &*found;
}

// What a relative path is relative to: the working directory, as everywhere, unless the file is
// found below a root instead.
std::string FilePolicy::Base(const std::string& relative) const {
  const std::string here = WorkingDirectory();
  if (limits_ == nullptr) return here;
  const std::string resolved_here = WithoutLinks(here);
  std::vector<std::string> bases;
  if (RootOf(resolved_here) != nullptr) bases.push_back(resolved_here);
  for (const Root& root : limits_->allow)
    bases.push_back(root.path);
  for (const std::string& base : bases) {
    const std::string path = WithoutLinks(base + "/" + relative);
    struct stat status {};
    if (RootOf(path) != nullptr && ::lstat(path.c_str(), &status) == 0) return base;
  }
  return bases.empty() ? resolved_here : bases.front();
}

Result<std::string> FilePolicy::ResolveInput(const std::string& given) const {
  JV_ASSIGN(std::string path, Expanded(given));
  if (path.front() != '/') path = Base(path) + "/" + path;
  path = WithoutLinks(path);
  if (limits_ != nullptr && RootOf(path) == nullptr) return tl::make_unexpected(Refused(given));
  return path;
}

Result<InputFile> FilePolicy::OpenResolved(const std::string& given,
                                           const std::string& path) const {
  InputFile file;
  file.given = given;
  file.path = path;
  if (limits_ == nullptr) {
    file.fd = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  } else {
    const Root* root = RootOf(path);
    if (root == nullptr) return tl::make_unexpected(Refused(given));
    file.fd =
        OpenFileBelow(root->fd.get(), std::string_view(path).substr(root->path.size()), O_RDONLY);
    if (!file.fd.valid() && errno == ELOOP) return tl::make_unexpected(Refused(given));
  }
  if (!file.fd.valid()) return OpenFailed(given, errno);
  struct stat status {};
  if (::fstat(file.fd.get(), &status) != 0) return OpenFailed(given, errno);
  if (!S_ISREG(status.st_mode)) return NoRegularFile(given, path, S_ISDIR(status.st_mode));
  if (limits_ != nullptr && IsKernelFile(file.fd.get())) {
    return Fail(ErrorCode::kNotAllowed,
                fmt::format("\"{}\" is a file of the kernel", Shown(given)));
  }
  file.size = static_cast<std::uint64_t>(status.st_size);
  file.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return file;
}

Result<InputFile> FilePolicy::OpenInput(const std::string& given) const {
  JV_ASSIGN(const std::string path, ResolveInput(given));
  return OpenResolved(given, path);
}

Result<std::vector<std::string>> FilePolicy::ListFolder(const std::string& given,
                                                        const std::vector<std::string>& endings,
                                                        int depth_max,
                                                        std::size_t files_max) const {
  namespace fs = std::filesystem;
  JV_ASSIGN(const std::string folder, ResolveInput(given));
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied,
                                           error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    std::error_code ignored;
    const fs::file_status status = entries->symlink_status(ignored);
    if (fs::is_directory(status) && (name.starts_with('.') || entries.depth() >= depth_max))
      entries.disable_recursion_pending();
    const bool fits = std::any_of(endings.begin(), endings.end(),
                                  [&](const std::string& end) { return name.ends_with(end); });
    if (!fs::is_regular_file(status) || name.starts_with('.') || !fits) continue;
    if (files.size() == files_max) {
      return Fail(ErrorCode::kTooLarge,
                  fmt::format("more than {} files below \"{}\"", files_max, Shown(given)));
    }
    files.push_back(entries->path().string());
  }
  std::sort(files.begin(), files.end(), NaturallyBefore);
  return files;
}

Result<std::string> FilePolicy::ResolveOutput(const std::string& given) const {
  JV_ASSIGN(std::string path, Expanded(given));
  if (!may_write()) return tl::make_unexpected(NotWritable(given));
  const std::string base = limits_ == nullptr ? WorkingDirectory() : limits_->output_root;
  if (path.front() != '/') path = base + "/" + path;
  path = WithoutLinks(path);
  if (limits_ != nullptr && !IsBelow(path, limits_->output_root)) {
    return tl::make_unexpected(NotWritable(given));
  }
  return path;
}

Result<FileDescriptor> FilePolicy::OpenOutputFolder(const std::string& path) const {
  const std::string base = limits_ == nullptr ? path : limits_->output_root;
  JV_TRY(MakeDirectories(base));
  const int no_links = limits_ == nullptr ? 0 : O_NOFOLLOW;
  FileDescriptor folder(::open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | no_links));
  if (limits_ != nullptr && folder.valid()) {
    if (!IsBelow(path, base)) return tl::make_unexpected(NotWritable(path));
    folder =
        OpenFolderBelow(folder.get(), std::string_view(path).substr(base.size()), Missing::kMake);
  }
  // A descriptor that can be locked.
  if (folder.valid()) {
    folder = FileDescriptor(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  if (!folder.valid()) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot make or open the directory \"{}\": {}", Shown(path),
                            std::strerror(errno)),
                "give another directory");
  }
  return folder;
}

std::string FilePolicy::DefaultOutput(const std::string& name) const {
  return limits_ == nullptr ? "jarvis_out/" + name : name;
}

}  // namespace jarvis::io
