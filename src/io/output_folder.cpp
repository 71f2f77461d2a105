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

struct HashState {
  XXH3_state_t* state = XXH3_createState();
  HashState() { XXH3_64bits_reset(state); }
  HashState(const HashState&) = delete;
  HashState& operator=(const HashState&) = delete;
  ~HashState() { XXH3_freeState(state); }
};

// Hands the file's bytes to `take`; false: it could not be read.
template <typename Take>
bool ReadAll(int fd, const Take& take) {
  std::vector<char> buffer(std::size_t{256} << 10);
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
}

std::optional<std::uint64_t> HashOf(int folder, const std::string& name) {
  const FileDescriptor file = OpenFileBelow(folder, name, O_RDONLY);
  if (!file.valid()) return std::nullopt;
  const HashState hash;
  const bool read = ReadAll(file.get(), [&](std::string_view bytes) {
    XXH3_64bits_update(hash.state, bytes.data(), bytes.size());
  });
  if (!read) return std::nullopt;
  return XXH3_64bits_digest(hash.state);
}

// lstat below the directory; nothing: there is nothing.
std::optional<struct stat> StatusOf(int folder, const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const FileDescriptor inner = OpenFolderBelow(
      folder, slash == std::string::npos ? "" : std::string_view(name).substr(0, slash),
      Missing::kFail);
  if (!inner.valid()) return std::nullopt;
  struct stat status {};
  const std::string last = slash == std::string::npos ? name : name.substr(slash + 1);
  if (::fstatat(inner.get(), last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return status;
}

std::optional<std::uint64_t> Number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

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
                 if (text.size() < kListBytesMax) text += bytes;
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
    const bool pending = !bytes || !hash;
    known_[std::string(line.substr(second + 1))] = {pending, bytes.value_or(0), hash.value_or(0)};
  }
  return {};
}

Status OutputFolder::WriteList() {
  std::string text(kHead);
  for (const auto& [name, known] : known_) {
    text += known.pending ? fmt::format("- - {}\n", name)
                          : fmt::format("{} {:016x} {}\n", known.bytes, known.hash, name);
  }
  return WriteFileAt(folder_.get(), kFileList, text, path_ + "/" + kFileList);
}

Status OutputFolder::CheckOurs(const std::string& name) const {
  const auto known = known_.find(name);
  if (known == known_.end()) {
    return Fail(ErrorCode::kExists,
                fmt::format("\"{}/{}\" exists and jarvis did not write it", path_, name), kWaysOut);
  }
  if (known->second.pending) return {};
  const auto status = StatusOf(folder_.get(), name);
  const bool same = status && S_ISREG(status->st_mode) &&
                    static_cast<std::uint64_t>(status->st_size) == known->second.bytes &&
                    HashOf(folder_.get(), name) == known->second.hash;
  if (same) return {};
  return Fail(ErrorCode::kExists,
              fmt::format("\"{}/{}\" was changed since jarvis wrote it", path_, name), kWaysOut);
}

Status OutputFolder::Claim(const std::vector<std::string>& names, bool overwrite) {
  for (const std::string& name : names) {
    if (name == kFileList) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("\"{}\" is the list of our files, it can be no other", kFileList),
                  "give another name");
    }
    const auto status = StatusOf(folder_.get(), name);
    if (!status) continue;
    if (S_ISDIR(status->st_mode)) {
      return Fail(ErrorCode::kExists, fmt::format("\"{}/{}\" is a directory", path_, name),
                  "give another directory");
    }
    if (!overwrite) JV_TRY(CheckOurs(name));
  }
  // Before anything is written: what is left by a run that dies is ours too.
  for (const std::string& name : names)
    known_[name] = {};
  RemoveLeftovers(names);
  return WriteList();
}

void OutputFolder::RemoveLeftovers(const std::vector<std::string>& names) {
  constexpr std::size_t kEntriesMax = 100'000;
  std::map<std::string, std::vector<std::string>> by_folder;
  by_folder[""].emplace_back(kFileList);
  for (const std::string& name : names) {
    const std::size_t slash = name.rfind('/');
    const bool top = slash == std::string::npos;
    by_folder[top ? "" : name.substr(0, slash)].push_back(top ? name : name.substr(slash + 1));
  }
  for (const auto& [folder, files] : by_folder) {
    const FileDescriptor inner = OpenFolderBelow(folder_.get(), folder, Missing::kFail);
    std::vector<FolderEntry> entries;
    if (!inner.valid() || !ReadFolder(inner.get(), kEntriesMax, &entries)) continue;
    for (const FolderEntry& entry : entries) {
      if (entry.kind != FolderEntry::Kind::kFile || !entry.name.ends_with(".tmp")) continue;
      const bool ours = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
        return IsTemporaryOf(entry.name, file);
      });
      if (ours) ::unlinkat(inner.get(), entry.name.c_str(), 0);
    }
  }
}

Result<std::string> OutputFolder::Write(const std::string& name, std::string_view content) {
  return Write(name, [content](const AddText& add) { add(content); });
}

Result<std::string> OutputFolder::Write(const std::string& name,
                                        const std::function<void(const AddText&)>& make) {
  {
    const std::lock_guard lock(mutex_);
    JV_CHECK(known_.contains(name));
  }
  const std::string path = path_ + "/" + name;
  const std::size_t slash = name.rfind('/');
  const FileDescriptor inner = OpenFolderBelow(
      folder_.get(), slash == std::string::npos ? "" : std::string_view(name).substr(0, slash),
      Missing::kMake);
  if (!inner.valid()) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot make the directory of \"{}\": {}", path, std::strerror(errno)));
  }
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(),
                                                                      &XXH3_freeState);
  if (hash == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(hash.get());
  std::uint64_t bytes = 0;
  const auto hashed = [&](const AddText& add) {
    make([&](std::string_view piece) {
      XXH3_64bits_update(hash.get(), piece.data(), piece.size());
      bytes += piece.size();
      add(piece);
    });
  };
  JV_TRY(WritePiecesAt(inner.get(), slash == std::string::npos ? name : name.substr(slash + 1),
                       hashed, path));
  const std::lock_guard lock(mutex_);
  known_[name] = {false, bytes, XXH3_64bits_digest(hash.get())};
  return path;
}

std::string OutputFolder::PathFor(const std::string& name) const {
  // Through the descriptor, which no link can lead elsewhere; /proc is not everywhere.
  const std::string by_descriptor = fmt::format("/proc/self/fd/{}", folder_.get());
  struct stat status {};
  const bool there = ::stat(by_descriptor.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  return (there ? by_descriptor : path_) + "/" + name;
}

Result<std::string> OutputFolder::Adopt(const std::string& name) {
  const auto status = StatusOf(folder_.get(), name);
  const auto hash = HashOf(folder_.get(), name);
  if (!status || !hash) {
    return Fail(ErrorCode::kIo,
                fmt::format("\"{}/{}\" is not there although it was written", path_, name));
  }
  const std::lock_guard lock(mutex_);
  known_[name] = {false, static_cast<std::uint64_t>(status->st_size), *hash};
  return path_ + "/" + name;
}

Status OutputFolder::Commit() {
  std::erase_if(known_, [&](const auto& known) { return !StatusOf(folder_.get(), known.first); });
  return WriteList();
}

}  // namespace jarvis::io
