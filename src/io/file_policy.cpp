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

std::int64_t Nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void Describe(const struct stat& status, InputFile* file) {
  file->size = static_cast<std::uint64_t>(status.st_size);
  file->modified_ns = Nanoseconds(status.st_mtim);
  file->changed_ns = Nanoseconds(status.st_ctim);
  file->inode = status.st_ino;
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

// The files in a directory that may have been meant, by their names.
std::vector<std::string> TracesIn(int folder, const std::string& path) {
  constexpr std::size_t kEntriesMax = 10'000;
  constexpr std::string_view kEndings[] = {".json", ".json.gz", ".json.zst", ".sqlite",
                                           ".db",   ".pftrace", ".xplane.pb"};
  std::vector<FolderEntry> entries;
  static_cast<void>(ReadFolder(folder, kEntriesMax, &entries));
  std::vector<std::string> traces;
  for (const FolderEntry& entry : entries) {
    const auto fits = [&](std::string_view ending) { return entry.name.ends_with(ending); };
    const bool is_folder = entry.kind == FolderEntry::Kind::kFolder;
    if (!is_folder && std::ranges::any_of(kEndings, fits))
      traces.push_back(path + "/" + entry.name);
  }
  std::ranges::sort(traces);
  return traces;
}

// Whether a directory is an export of Nsight Systems, a file for each table.
bool IsTablesOfNsys(int folder) {
  constexpr std::size_t kEntriesMax = 10'000;
  std::vector<FolderEntry> entries;
  static_cast<void>(ReadFolder(folder, kEntriesMax, &entries));
  return std::any_of(entries.begin(), entries.end(), [](const FolderEntry& entry) {
    const std::string& name = entry.name;
    const bool table = name.starts_with("CUPTI_ACTIVITY_KIND_") || name.starts_with("StringIds") ||
                       name.starts_with("NVTX_EVENTS");
    return table && (name.ends_with(".parquet") || name.ends_with(".arrow"));
  });
}

tl::unexpected<Error> NoRegularFile(const std::string& given, const InputFile& file,
                                    bool is_folder) {
  if (!is_folder) {
    return Fail(ErrorCode::kNotATrace, fmt::format("\"{}\" is not a regular file", Shown(given)));
  }
  if (IsTablesOfNsys(file.fd.get())) {
    return Fail(
        ErrorCode::kNotATrace,
        fmt::format("\"{}\" is an export of Nsight Systems to Parquet or Arrow, which is not "
                    "read",
                    Shown(given)),
        "export the report to SQLite and give that: nsys export --type=sqlite "
        "--include-blobs=true -o OUT.sqlite FILE.nsys-rep");
  }
  const std::vector<std::string> traces = TracesIn(file.fd.get(), file.path);
  return Fail(ErrorCode::kNotATrace,
              fmt::format("\"{}\" is a directory; name one trace file in it", Shown(given)),
              traces.empty() ? ""
                             : fmt::format("the first one in it is \"{}\"; the command "
                                           "collectives takes a folder of ranks",
                                           traces.front()));
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
  if (!S_ISREG(status.st_mode)) return NoRegularFile(given, file, S_ISDIR(status.st_mode));
  if (limits_ != nullptr && IsKernelFile(file.fd.get())) {
    return Fail(ErrorCode::kNotAllowed,
                fmt::format("\"{}\" is a file of the kernel", Shown(given)));
  }
  Describe(status, &file);
  return file;
}

Result<InputFile> FilePolicy::OpenNamed(const std::string& given) const {
  JV_ASSIGN(const std::string path, ResolveInput(given));
  return OpenResolved(given, path);
}

Result<InputFile> FilePolicy::OpenInput(const std::string& given) const {
  constexpr int kMarksMax = 8;  // in the names of directories
  std::size_t mark = given.find('#');
  if (mark == std::string::npos) return OpenNamed(given);
  // A name that climbs would be another path once it is resolved.
  const bool climbs = given.find("..", mark) != std::string::npos;
  Result<InputFile> whole = Fail(ErrorCode::kTraceNotFound, "");
  if (!climbs) {
    whole = OpenNamed(given);
    if (whole || whole.error().code == ErrorCode::kNotATrace) return whole;
  }
  for (int i = 0; i < kMarksMax && mark != std::string::npos; ++i) {
    Result<InputFile> archive = OpenNamed(given.substr(0, mark));
    if (archive && mark + 1 < given.size()) {
      archive->given = given;
      archive->member = given.substr(mark + 1);
      archive->path += given.substr(mark);
      return archive;
    }
    mark = given.find('#', mark + 1);
  }
  if (climbs) return OpenNamed(given);
  return whole;
}

Result<InputFile> FilePolicy::OpenTrace(const std::string& given) const {
  Result<InputFile> file = OpenInput(given);
  if (file || file.error().code != ErrorCode::kNotATrace) return file;
  JV_ASSIGN(const std::string path, ResolveInput(given));
  const Result<InputFolder> folder = OpenInputFolder(given);
  if (!folder) return file;
  const std::vector<std::string> traces = TracesIn(folder->fd.get(), path);
  return traces.size() == 1 ? OpenResolved(given, traces.front()) : std::move(file);
}

Result<InputFile> AnotherOf(const InputFile& file) {
  InputFile other;
  other.given = file.given;
  other.path = file.path;
  other.size = file.size;
  other.modified_ns = file.modified_ns;
  other.changed_ns = file.changed_ns;
  other.inode = file.inode;
  other.member = file.member;
  other.fd = FileDescriptor(::fcntl(file.fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!other.fd.valid()) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot read \"{}\": {}", Shown(file.given), std::strerror(errno)));
  }
  return other;
}

Result<InputFile> FilePolicy::OpenUnchanged(const std::string& path) {
  InputFile file;
  file.given = path;
  file.path = path;
  const FileDescriptor root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.valid()) file.fd = OpenFileBelow(root.get(), path, O_RDONLY);
  struct stat status {};
  const bool opened = file.fd.valid() && ::fstat(file.fd.get(), &status) == 0;
  if (!opened || !S_ISREG(status.st_mode)) {
    const int error = opened || errno == ELOOP || errno == ENOTDIR ? ENOENT : errno;
    return Fail(ErrorCode::kIo,
                fmt::format("cannot read \"{}\": {}", Shown(path),
                            error == ENOENT ? "it is not there any more" : std::strerror(error)));
  }
  Describe(status, &file);
  return file;
}

Result<FilePolicy::InputFolder> FilePolicy::OpenInputFolder(const std::string& given) const {
  JV_ASSIGN(const std::string path, ResolveInput(given));
  InputFolder folder{{}, path};
  if (limits_ == nullptr) {
    folder.fd = FileDescriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  } else {
    const Root* root = RootOf(path);
    if (root == nullptr) return tl::make_unexpected(Refused(given));
    folder.fd = OpenFolderBelow(root->fd.get(), std::string_view(path).substr(root->path.size()),
                                Missing::kFail);
    if (!folder.fd.valid() && errno == ELOOP) return tl::make_unexpected(Refused(given));
  }
  if (!folder.fd.valid()) {
    return Fail(ErrorCode::kTraceNotFound,
                fmt::format("no directory \"{}\": {}", Shown(given), std::strerror(errno)));
  }
  return folder;
}

namespace {

// A walk through what lies below an open directory; directories that cannot be opened, or that have
// become something else, are passed over.
class FolderWalk {
 public:
  FolderWalk(const std::vector<std::string>& endings, int depth_max, std::size_t files_max)
      : endings_(endings), depth_max_(depth_max), files_max_(files_max) {}

  // False: there are more files than the limit.
  bool Add(int folder, const std::string& path, int depth) {
    constexpr std::size_t kEntriesMax = 1'000'000;  // of one directory
    std::vector<FolderEntry> entries;
    static_cast<void>(ReadFolder(folder, kEntriesMax, &entries));
    for (const FolderEntry& entry : entries) {
      if (entry.name.starts_with('.')) continue;
      const std::string entry_path = (path == "/" ? "" : path) + "/" + entry.name;
      if (entry.kind == FolderEntry::Kind::kFolder && depth < depth_max_) {
        const FileDescriptor inner = OpenFolderBelow(folder, entry.name, Missing::kFail);
        if (inner.valid() && !Add(inner.get(), entry_path, depth + 1)) return false;
      } else if (entry.kind == FolderEntry::Kind::kFile && Fits(entry.name)) {
        if (files_.size() == files_max_) return false;
        files_.push_back(entry_path);
      }
    }
    return true;
  }

  std::vector<std::string> TakeFiles() { return std::move(files_); }

 private:
  bool Fits(const std::string& name) const {
    return std::any_of(endings_.begin(), endings_.end(),
                       [&](const std::string& end) { return name.ends_with(end); });
  }

  const std::vector<std::string>& endings_;
  int depth_max_;
  std::size_t files_max_;
  std::vector<std::string> files_;
};

}  // namespace

Result<std::vector<std::string>> FilePolicy::ListFolder(const std::string& given,
                                                        const std::vector<std::string>& endings,
                                                        int depth_max,
                                                        std::size_t files_max) const {
  const Result<InputFolder> folder = OpenInputFolder(given);
  if (!folder) {
    if (folder.error().code == ErrorCode::kTraceNotFound) return std::vector<std::string>();
    return tl::make_unexpected(folder.error());
  }
  FolderWalk walk(endings, depth_max, files_max);
  if (!walk.Add(folder->fd.get(), folder->path, 0)) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("more than {} files below \"{}\"", files_max, Shown(given)));
  }
  std::vector<std::string> files = walk.TakeFiles();
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
