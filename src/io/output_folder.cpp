#include "io/output_folder.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/check.h"
#include "io/atomic_file.h"
#include "io/below.h"
#include "io/temporary_file.h"

namespace jarvis::io {
namespace {

constexpr std::string_view kHead =
    "# Files in this directory that jarvis wrote and may replace: bytes, hash, name.\n";
constexpr std::size_t kListBytesMax = std::size_t{16} << 20;
constexpr const char* kWaysOut = "pass overwrite: true, or another directory";

// Hands the file's bytes to `take` as long as it wants them; false: it is no file that can be read.
template <typename Take>
bool ReadAll(int fd, const Take& take) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::vector<char> buffer(std::size_t{256} << 10);
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    if (!take(std::string_view(buffer.data(), static_cast<std::size_t>(got)))) return true;
  }
}

// The folder part of a name and the rest of it.
std::pair<std::string, std::string> Split(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return {"", name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

// lstat below the directory; nothing: there is nothing.
std::optional<struct stat> StatusOf(int folder, const std::string& name) {
  const auto [place, last] = Split(name);
  const FileDescriptor inner = OpenFolderBelow(folder, place, Missing::kFail);
  if (!inner.valid()) return std::nullopt;
  struct stat status {};
  if (::fstatat(inner.get(), last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return status;
}

std::string_view KindOf(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "a directory";
  return S_ISLNK(status.st_mode) ? "a link" : "neither a file nor a pipe";
}

// The head, or as much of it as a run wrote that was killed: an empty file is nobody's loss.
bool BeginsAsList(int folder, const std::string& name) {
  const FileDescriptor file = OpenFileBelow(folder, name, O_RDONLY);
  std::string text;
  return file.valid() &&
         ReadAll(file.get(),
                 [&](std::string_view bytes) {
                   text += bytes;
                   return text.size() < kHead.size();
                 }) &&
         (text.starts_with(kHead) || kHead.starts_with(text));
}

std::optional<std::uint64_t> Number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

struct OutputFile::Hash {
  XXH3_state_t* state = XXH3_createState();
  Hash() {
    if (state == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(state);
  }
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;
  ~Hash() { XXH3_freeState(state); }
  void Add(std::string_view bytes) { XXH3_64bits_update(state, bytes.data(), bytes.size()); }
  std::uint64_t value() const { return XXH3_64bits_digest(state); }
  static std::optional<std::uint64_t> Of(int folder, const std::string& name) {
    const FileDescriptor file = OpenFileBelow(folder, name, O_RDONLY);
    Hash hash;
    const bool read = file.valid() && ReadAll(file.get(), [&](std::string_view bytes) {
                        hash.Add(bytes);
                        return true;
                      });
    return read ? std::optional(hash.value()) : std::nullopt;
  }
};

void OutputFile::FreeHash::operator()(Hash* hash) const {
  delete hash;
}

OutputFile::OutputFile(OutputFolder& folder, std::string name, FileDescriptor inner,
                       TemporaryFile file)
    : folder_(&folder),
      name_(std::move(name)),
      inner_(std::move(inner)),
      file_(std::move(file)),
      hash_(new Hash()) {}

Status OutputFile::Write(std::string_view piece) {
  if (!file_.Write(piece)) {
    return Fail(ErrorCode::kIo, fmt::format("cannot write \"{}/{}\": {}", folder_->path_, name_,
                                            WriteProblem(errno)));
  }
  hash_->Add(piece);
  bytes_ += piece.size();
  return {};
}

Result<std::string> OutputFile::Finish() {
  std::string path = folder_->path_ + "/" + name_;
  const std::lock_guard lock(folder_->mutex_);
  if (!file_.stream()) JV_TRY(folder_->Note(name_, {bytes_, hash_->value()}));
  OutputFolder::Known* known = file_.stream() ? nullptr : &folder_->known_[name_];
  const Existing existing = known != nullptr && known->free ? Existing::kKeep : Existing::kReplace;
  if (!file_.Finish(existing)) {
    if (errno == EEXIST) {
      return Fail(
          ErrorCode::kExists,
          fmt::format("\"{}\" came to be while jarvis wrote, and jarvis did not write it", path),
          kWaysOut);
    }
    return Fail(ErrorCode::kIo,
                fmt::format("cannot replace \"{}\": {}", path, WriteProblem(errno)));
  }
  if (known != nullptr) {
    known->contents = {{bytes_, hash_->value()}};
    known->free = false;
  }
  return path;
}

Result<std::unique_ptr<OutputFolder>> OutputFolder::Open(const FilePolicy& policy,
                                                         const std::string& path, Job& job) {
  JV_ASSIGN(FileDescriptor folder, policy.OpenOutputFolder(path));
  while (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    // Some network file systems have no such locks; then callers must not collide.
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    JV_TRY(job.Check());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::unique_ptr<OutputFolder> opened(new OutputFolder(path, std::move(folder)));
  JV_TRY(opened->ReadList());
  return opened;
}

Status OutputFolder::ReadList() {
  const FileDescriptor file = OpenFileBelow(folder_.get(), kFileList, O_RDONLY);
  if (!file.valid() && errno == ENOENT) return {};
  // Another file in its place is a reason of its own; all else (too many open files) is none to
  // doubt what is there.
  if (!file.valid() && errno != ELOOP && errno != ENXIO) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot read \"{}/{}\": {}", path_, kFileList, std::strerror(errno)));
  }
  std::string text;
  if (!file.valid() ||
      !ReadAll(file.get(),
               [&](std::string_view bytes) {
                 text += bytes;
                 return text.size() < kListBytesMax;
               }) ||
      !std::string_view(text).starts_with(kHead)) {
    return Fail(
        ErrorCode::kExists,
        fmt::format("\"{}/{}\" is not the list of files that jarvis keeps there", path_, kFileList),
        "give another directory");
  }
  for (std::string_view left = std::string_view(text).substr(kHead.size()); !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const auto bytes = Number(line.substr(0, first), 10);
    const auto hash = Number(line.substr(first + 1, second - first - 1), 16);
    Known& known = known_[std::string(line.substr(second + 1))];
    if (bytes && hash)
      known.contents.push_back({*bytes, *hash});
    else
      known.claimed = true;
  }
  return {};
}

Status OutputFolder::WriteList() {
  std::string text(kHead);
  for (const auto& [name, known] : known_) {
    if (known.claimed) text += fmt::format("- - {}\n", name);
    for (const Content& content : known.contents)
      text += fmt::format("{} {:016x} {}\n", content.bytes, content.hash, name);
  }
  return WriteFileAt(folder_.get(), kFileList, text, path_ + "/" + kFileList);
}

Status OutputFolder::Note(const std::string& name, const Content& content) {
  const std::string line = fmt::format("{} {:016x} {}\n", content.bytes, content.hash, name);
  const FileDescriptor list = OpenFileBelow(folder_.get(), kFileList, O_WRONLY | O_APPEND);
  if (list.valid() && PlaceAt(folder_.get(), kFileList) == Place::kFile &&
      ::write(list.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()))
    return {};
  return Fail(ErrorCode::kIo,
              fmt::format("cannot write \"{}/{}\": {}", path_, kFileList, std::strerror(errno)));
}

Status OutputFolder::CheckOurs(const std::string& name) const {
  const auto known = known_.find(name);
  if (known == known_.end()) {
    return Fail(ErrorCode::kExists,
                fmt::format("\"{}/{}\" exists and jarvis did not write it", path_, name), kWaysOut);
  }
  const auto status = StatusOf(folder_.get(), name);
  const std::uint64_t bytes = status ? static_cast<std::uint64_t>(status->st_size) : 0;
  const std::vector<Content>& contents = known->second.contents;
  std::optional<std::uint64_t> hash;
  const bool same = std::any_of(contents.begin(), contents.end(), [&](const Content& content) {
    if (content.bytes != bytes) return false;
    if (!hash) hash = OutputFile::Hash::Of(folder_.get(), name);
    return hash == content.hash;
  });
  if (same) return {};
  return Fail(ErrorCode::kExists,
              fmt::format("\"{}/{}\" was changed since jarvis wrote it", path_, name), kWaysOut);
}

Status OutputFolder::Claim(const std::vector<std::string>& names, bool overwrite) {
  std::set<std::string> streams;
  std::set<std::string> free;
  for (const std::string& name : names) {
    if (name == kFileList) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("\"{}\" is the list of our files, it can be no other", kFileList),
                  "give another name");
    }
    const auto status = StatusOf(folder_.get(), name);
    const Place place = status ? PlaceOf(*status) : Place::kFree;
    if (place == Place::kStream) streams.insert(name);
    if (place == Place::kFree) free.insert(name);
    if (place == Place::kOther) {
      return Fail(ErrorCode::kExists, fmt::format("\"{}/{}\" is {}", path_, name, KindOf(*status)),
                  "remove it, or give another directory");
    }
    if (place == Place::kFile && !overwrite) JV_TRY(CheckOurs(name));
  }
  RemoveLeftovers();
  for (const std::string& name : names) {
    if (streams.contains(name)) continue;
    Known& known = known_[name];
    known.claimed = true;
    known.free = free.contains(name);
  }
  streams_.merge(streams);
  // Before anything is written, so that the next run knows what this one may leave. A directory
  // that only has a pipe in it that is written to is not marked as one of ours.
  return known_.empty() ? Status() : WriteList();
}

// Halves of files that were claimed and not remembered since, and of the list itself.
void OutputFolder::RemoveLeftovers() {
  constexpr std::size_t kEntriesMax = 100'000;
  std::map<std::string, std::vector<std::string>> by_folder;
  by_folder[""].emplace_back(kFileList);
  for (const auto& [name, known] : known_) {
    if (!known.claimed) continue;
    auto [folder, file] = Split(name);
    by_folder[folder].push_back(std::move(file));
  }
  for (const auto& [folder, files] : by_folder) {
    const FileDescriptor inner = OpenFolderBelow(folder_.get(), folder, Missing::kFail);
    std::vector<FolderEntry> entries;
    if (!inner.valid() || !ReadFolder(inner.get(), kEntriesMax, &entries)) continue;
    for (const FolderEntry& entry : entries) {
      if (entry.kind != FolderEntry::Kind::kFile || !entry.name.ends_with(".tmp")) continue;
      const auto of = std::find_if(files.begin(), files.end(), [&](const std::string& file) {
        return IsTemporaryOf(entry.name, file);
      });
      if (of == files.end() || (*of == kFileList && !BeginsAsList(inner.get(), entry.name)))
        continue;
      ::unlinkat(inner.get(), entry.name.c_str(), 0);
    }
  }
}

Result<OutputFile> OutputFolder::Create(const std::string& name) {
  bool stream = false;
  {
    const std::lock_guard lock(mutex_);
    stream = streams_.contains(name);
    JV_CHECK(stream || known_.contains(name));
  }
  const std::string path = path_ + "/" + name;
  const auto [place, last] = Split(name);
  FileDescriptor inner = OpenFolderBelow(folder_.get(), place, Missing::kMake);
  if (!inner.valid()) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot make the directory of \"{}\": {}", path, std::strerror(errno)));
  }
  TemporaryFile file = TemporaryFile::Beside(inner.get(), last);
  // Other than when it was claimed: then nobody has looked whose the file is.
  if (file.valid() && stream && !file.stream()) {
    return Fail(ErrorCode::kExists, fmt::format("\"{}\" is no pipe any more", path), kWaysOut);
  }
  if (!file.valid()) {
    return Fail(ErrorCode::kIo, fmt::format("cannot write \"{}\": {}", path, WriteProblem(errno)));
  }
  return OutputFile(*this, name, std::move(inner), std::move(file));
}

Result<std::string> OutputFolder::Write(const std::string& name, std::string_view content) {
  return Write(name, [content](const AddText& add) { add(content); });
}

Result<std::string> OutputFolder::Write(const std::string& name,
                                        const std::function<void(const AddText&)>& make) {
  JV_ASSIGN(OutputFile file, Create(name));
  Status written;  // of the first piece that could not be
  make([&](std::string_view piece) {
    if (written) written = file.Write(piece);
  });
  JV_TRY(written);
  return file.Finish();
}

Status OutputFolder::Commit() {
  std::erase_if(known_, [&](const auto& known) { return !StatusOf(folder_.get(), known.first); });
  for (auto& [name, known] : known_)
    known.claimed = false;
  return known_.empty() && PlaceAt(folder_.get(), kFileList) == Place::kFree ? Status()
                                                                             : WriteList();
}

}  // namespace jarvis::io
