#include "io/cache_folder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/file_descriptor.h"
#include "base/parallel.h"
#include "base/text.h"
#include "io/below.h"
#include "io/leased_file.h"
#include "io/temporary_file.h"

namespace jarvis::io {
namespace {

constexpr std::string_view kMarkerHead =
    "# This directory is jarvis's own: it keeps traces here that it has read, and removes them.\n"
    "# By this key it knows them; without it all are read again.\n";
constexpr std::array<char, 16> kMagic = {'j', 'a', 'r', 'v', 'i',  's',  ' ',  't',
                                         'r', 'a', 'c', 'e', '\0', '\r', '\n', '\x1a'};
// Files are hashed in parts of this size, so that several cores can do it.
constexpr std::size_t kHashedAtOnce = std::size_t{4} << 20;
// Smaller files are copied: mapping saves nothing.
constexpr std::size_t kMappedFrom = std::size_t{1} << 20;
// What is read at once is hashed while it is in the core's cache.
constexpr std::size_t kReadAtOnce = std::size_t{256} << 10;
// Between two looks at whether the writing was cancelled.
constexpr std::size_t kWrittenAtOnce = std::size_t{8} << 20;
// A temporary file that nobody has written to for so long has lost its writer.
constexpr std::int64_t kAbandonedAfterS = 3600;
constexpr std::size_t kCachedFilesMax = 1'000'000;
constexpr mode_t kMode = 0600;
constexpr std::size_t kStampBytesMax = 8192;

using Key = std::array<unsigned char, 192>;  // as long as the library's own secret

// Before a file's own bytes.
struct Head {
  std::array<char, 16> magic = kMagic;
  std::uint64_t bytes = 0;  // that follow
  std::uint64_t hash = 0;   // of these, and of how many they are
  std::array<std::uint64_t, 4> padding{};
};

struct StateDeleter {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

// With the key: nobody without it can tell what a hash has to be.
class KeyedHash {
 public:
  explicit KeyedHash(const Key& key) : key_(key), state_(XXH3_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    Begin();
  }
  void Begin() { XXH3_64bits_reset_withSecret(state_.get(), key_.data(), key_.size()); }
  void Add(const void* bytes, std::size_t size) { XXH3_64bits_update(state_.get(), bytes, size); }
  std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  const Key& key_;
  std::unique_ptr<XXH3_state_t, StateDeleter> state_;
};

// Of a file, from those of its parts.
std::uint64_t Together(const Key& key, const std::vector<std::uint64_t>& parts,
                       std::uint64_t bytes) {
  KeyedHash hash(key);
  hash.Add(parts.data(), parts.size() * sizeof(std::uint64_t));
  hash.Add(&bytes, sizeof bytes);
  return hash.value();
}

// Of what is to be written, in pieces.
std::uint64_t HashOf(const Key& key, std::span<const std::span<const std::byte>> pieces,
                     std::uint64_t bytes) {
  std::vector<std::uint64_t> parts;
  KeyedHash hash(key);
  std::size_t filled = 0;
  const auto end = [&] {
    if (filled == 0) return;
    parts.push_back(hash.value());
    hash.Begin();
    filled = 0;
  };
  for (std::span<const std::byte> piece : pieces) {
    while (!piece.empty()) {
      const std::size_t part = std::min(piece.size(), kHashedAtOnce - filled);
      hash.Add(piece.data(), part);
      filled += part;
      piece = piece.subspan(part);
      if (filled == kHashedAtOnce) end();
    }
  }
  end();
  return Together(key, parts, bytes);
}

// All of that many bytes of a file from a place on.
bool ReadAt(int file, void* to, std::size_t bytes, std::uint64_t place) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(file, at, bytes, static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    place += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

// A regular file, open to be read; nothing that could make us wait is opened for long.
FileDescriptor OpenRegular(int folder, const std::string& name, struct stat* status) {
  FileDescriptor file(
      ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const bool regular = file.valid() && ::fstat(file.get(), status) == 0 && S_ISREG(status->st_mode);
  return regular ? std::move(file) : FileDescriptor();
}

std::optional<std::string> ReadText(int folder, const std::string& name, std::size_t bytes_max) {
  struct stat status {};
  const FileDescriptor file = OpenRegular(folder, name, &status);
  if (!file.valid() || static_cast<std::uint64_t>(status.st_size) > bytes_max) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  if (!ReadAt(file.get(), text.data(), text.size(), 0)) return std::nullopt;
  return text;
}

bool IsHex(std::string_view text, std::size_t least, std::size_t most) {
  return text.size() >= least && text.size() <= most &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The name that a temporary file lies beside; empty: it is none.
std::string NameOfTemporary(const std::string& name) {
  const std::size_t mark = name.rfind(".jarvis-");
  if (mark == std::string::npos) return {};
  std::string beside = name.substr(0, mark);
  return IsTemporaryOf(name, beside) ? beside : std::string();
}

// Earlier versions wrote stamps without a head: a text, a hash, and the hash of both; the text's
// hash is the name.
bool IsEarlierStamp(int folder, const std::string& name) {
  if (!name.ends_with(".stamp")) return false;
  const auto noted = ReadText(folder, name, kStampBytesMax);
  constexpr std::size_t kHashes = 2 * sizeof(std::uint64_t);
  if (!noted || noted->size() <= kHashes) return false;
  std::uint64_t hash = 0;
  std::memcpy(&hash, noted->data() + noted->size() - sizeof hash, sizeof hash);
  return hash == XXH3_64bits(noted->data(), noted->size() - sizeof hash) &&
         name == fmt::format("{:016x}.stamp", XXH3_64bits(noted->data(), noted->size() - kHashes));
}

enum class Whose { kNobodys, kOurs, kOthers };
enum class Cut { kRefused, kOurs };

// By the head. `cut`: whose a file is that holds the begin of a head and nothing else.
Whose WhoseIs(int folder, const std::string& name, Cut cut) {
  if (PlaceAt(folder, name) == Place::kFree) return Whose::kNobodys;
  struct stat status {};
  const FileDescriptor file = OpenRegular(folder, name, &status);
  if (!file.valid()) return Whose::kOthers;
  const std::size_t bytes =
      std::min(kMagic.size(), static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)));
  std::array<char, kMagic.size()> start{};
  const bool fits = ReadAt(file.get(), start.data(), bytes, 0) &&
                    std::equal(start.begin(), start.begin() + bytes, kMagic.begin()) &&
                    (bytes == kMagic.size() || cut == Cut::kOurs);
  return fits || IsEarlierStamp(folder, name) ? Whose::kOurs : Whose::kOthers;
}

struct CachedFile {
  std::string name;
  bool temporary = false;
  std::uint64_t bytes = 0;
  std::int64_t used_ns = 0;
};

std::int64_t TimeNs(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Those that are ours, the longest unused first.
std::vector<CachedFile> FilesOf(int folder) {
  std::vector<CachedFile> files;
  std::vector<FolderEntry> entries;
  static_cast<void>(ReadFolder(folder, kCachedFilesMax, &entries));
  for (FolderEntry& entry : entries) {
    struct stat status {};
    const bool temporary = CacheFolder::IsName(NameOfTemporary(entry.name));
    if (entry.kind != FolderEntry::Kind::kFile ||
        (!temporary && !CacheFolder::IsName(entry.name)) ||
        ::fstatat(folder, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        WhoseIs(folder, entry.name, Cut::kRefused) != Whose::kOurs)
      continue;
    files.push_back({std::move(entry.name), temporary, static_cast<std::uint64_t>(status.st_size),
                     TimeNs(status.st_mtim)});
  }
  std::sort(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
    return std::tie(a.used_ns, a.name) < std::tie(b.used_ns, b.name);
  });
  return files;
}

bool HasRoom(int folder, std::uint64_t bytes) {
  struct statvfs status {};
  return ::fstatvfs(folder, &status) == 0 &&
         bytes <= std::uint64_t{status.f_bavail} * status.f_frsize / 2;
}

// Why a folder is not used, as the end of a sentence; empty: nobody but us can have written what
// lies there.
std::string WhyNot(int folder) {
  struct stat status {};
  if (::fstat(folder, &status) != 0) return std::strerror(errno);
  if (status.st_uid != ::geteuid()) return "it belongs to another user; name another directory";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "others may write to it; take that right away (chmod go-w) or name another directory";
  return {};
}

// Something in it that is not ours by its name; empty: there is nothing.
std::string Stranger(int folder) {
  std::vector<FolderEntry> entries;
  if (!ReadFolder(folder, kCachedFilesMax, &entries)) return "?";
  for (FolderEntry& entry : entries) {
    const std::string beside = NameOfTemporary(entry.name);
    const bool ours = CacheFolder::IsName(entry.name) || CacheFolder::IsName(beside) ||
                      beside == CacheFolder::kMarker;
    if (!ours || entry.kind != FolderEntry::Kind::kFile) return std::move(entry.name);
  }
  return {};
}

enum class Marked { kYes, kNo, kBroken, kOthers };

// kBroken: ours, without a key that could be believed. kOthers: a file of somebody else's.
Marked ReadMarker(int folder, Key* key) {
  if (PlaceAt(folder, CacheFolder::kMarker) == Place::kFree) return Marked::kNo;
  struct stat status {};
  if (!OpenRegular(folder, CacheFolder::kMarker, &status).valid()) return Marked::kOthers;
  const bool ours = status.st_uid == ::geteuid();
  const auto text =
      ReadText(folder, CacheFolder::kMarker, kMarkerHead.size() + 2 * key->size() + 64);
  if (!ours || !text ||
      std::string_view(*text).substr(0, kMarkerHead.size()) != kMarkerHead.substr(0, text->size()))
    return Marked::kOthers;
  if (text->size() != kMarkerHead.size() + 2 * key->size() + 1 ||
      (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return Marked::kBroken;
  const std::string_view digits =
      std::string_view(*text).substr(kMarkerHead.size(), 2 * key->size());
  if (!IsHex(digits, 2 * key->size(), 2 * key->size())) return Marked::kBroken;
  const auto value = [](char digit) {
    return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  };
  for (std::size_t i = 0; i < key->size(); ++i)
    (*key)[i] = static_cast<unsigned char>(value(digits[2 * i]) << 4U | value(digits[2 * i + 1]));
  return Marked::kYes;
}

// Writes a marker; of two that do so at once one is first, and the other reads what that one wrote.
// Where it cannot be written the folder stays as it is.
void MakeMarker(int folder, Existing existing) {
  Key key{};
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) return;
  std::string text(kMarkerHead);
  for (const unsigned char byte : key)
    text += fmt::format("{:02x}", byte);
  text += '\n';
  TemporaryFile file = TemporaryFile::Beside(folder, CacheFolder::kMarker, kMode);
  if (file.valid() && file.Write(text)) file.Finish(existing);
}

struct Opened {
  FileDescriptor folder;
  Key key{};
};

FileDescriptor OpenPath(const std::string& path) {
  if (path.empty()) {
    errno = ENOENT;
    return {};
  }
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// A folder that is ours and marked.
std::optional<Opened> OpenMarked(const std::string& path) {
  Opened opened{OpenPath(path)};
  if (!opened.folder.valid() || !WhyNot(opened.folder.get()).empty() ||
      ReadMarker(opened.folder.get(), &opened.key) != Marked::kYes)
    return std::nullopt;
  return opened;
}

// The same; one that is not marked yet and holds nothing of others' gets a marker.
std::optional<Opened> OpenToWrite(const std::string& path) {
  const FileDescriptor folder = OpenPath(path);
  if (!folder.valid() || !WhyNot(folder.get()).empty()) return std::nullopt;
  Key key{};
  const Marked marked = ReadMarker(folder.get(), &key);
  if (marked == Marked::kNo && Stranger(folder.get()).empty())
    MakeMarker(folder.get(), Existing::kKeep);
  if (marked == Marked::kBroken) MakeMarker(folder.get(), Existing::kReplace);
  return OpenMarked(path);
}

// Memory with a copy of a file still to be read; empty: there is none.
std::span<std::byte> MemoryFor(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return {};
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(memory), bytes};
}

// Whether a file in memory is as somebody with the key wrote it; all cores take part. `file`: what
// is still to be read into the memory; -1: nothing is.
bool IsWhole(std::span<std::byte> whole, int file, const Key& key) {
  if (file >= 0 && !ReadAt(file, whole.data(), sizeof(Head), 0)) return false;
  Head head;
  std::memcpy(&head, whole.data(), sizeof head);
  const std::span<std::byte> body = whole.subspan(sizeof head);
  if (head.magic != kMagic || head.bytes != body.size()) return false;
  std::vector<std::uint64_t> parts((body.size() + kHashedAtOnce - 1) / kHashedAtOnce);
  std::atomic<bool> good{true};
  ParallelFor(parts.size(), 0, [&](std::size_t i) {
    KeyedHash hash(key);
    const std::size_t end = std::min((i + 1) * kHashedAtOnce, body.size());
    for (std::size_t at = i * kHashedAtOnce; at < end && good; at += kReadAtOnce) {
      const std::size_t size = std::min(kReadAtOnce, end - at);
      if (file >= 0 && !ReadAt(file, &body[at], size, sizeof head + at)) good = false;
      hash.Add(&body[at], size);
    }
    parts[i] = hash.value();
  });
  return good && Together(key, parts, body.size()) == head.hash;
}

}  // namespace

CachedBytes::~CachedBytes() {
  if (!bytes_.empty()) Unmap({bytes_.data() - sizeof(Head), bytes_.size() + sizeof(Head)});
}

std::string CacheFolder::DefaultPath() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  // One that is not absolute is to be ignored, says the XDG base directory specification.
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/jarvis";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/jarvis" : "";
}

bool CacheFolder::IsName(const std::string& name) {
  std::string_view stem = name;
  if (stem.ends_with(".stamp")) return IsHex(stem.substr(0, stem.size() - 6), 16, 16);
  if (!stem.ends_with(".trace")) return false;
  stem.remove_suffix(6);
  const std::size_t first = stem.find('-');
  const std::size_t second = stem.find('-', first == stem.npos ? first : first + 1);
  return second != stem.npos && IsHex(stem.substr(0, first), 16, 16) &&
         IsHex(stem.substr(first + 1, second - first - 1), 1, 16) &&
         IsHex(stem.substr(second + 1), 12, 12);
}

std::string CacheFolder::Refusal() const {
  const FileDescriptor folder = OpenPath(path_);
  if (!folder.valid()) {
    if (errno == ENOENT) return {};
    const bool other = errno == ENOTDIR || errno == ELOOP;
    return other ? "it is no directory, or a link to one; name a directory itself"
                 : std::string(std::strerror(errno));
  }
  if (std::string why = WhyNot(folder.get()); !why.empty()) return why;
  Key key{};
  const Marked marked = ReadMarker(folder.get(), &key);
  if (marked == Marked::kYes || marked == Marked::kBroken) return {};
  const std::string stranger =
      marked == Marked::kOthers ? std::string(kMarker) : Stranger(folder.get());
  if (stranger.empty()) return {};
  return fmt::format(
      "it holds what is not jarvis's, such as \"{}\"; name a directory that is new "
      "or empty",
      OneLine(Utf8Prefix(stranger, 100)));
}

std::vector<std::string> CacheFolder::Names() const {
  std::vector<std::string> names;
  const auto opened = OpenMarked(path_);
  if (!opened) return names;
  std::vector<FolderEntry> entries;
  static_cast<void>(ReadFolder(opened->folder.get(), kCachedFilesMax, &entries));
  for (FolderEntry& entry : entries)
    if (IsName(entry.name)) names.push_back(std::move(entry.name));
  return names;
}

CachedBytes CacheFolder::Read(const std::string& name) const {
  CachedBytes read;
  const auto opened = OpenMarked(path_);
  if (!opened) return read;
  struct stat status {};
  const FileDescriptor file = OpenRegular(opened->folder.get(), name, &status);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (!file.valid() || size <= sizeof(Head)) return read;
  std::span<std::byte> whole;
  if (size >= kMappedFrom)
    whole = MapLeased(FileDescriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)), size);
  const bool copies = whole.empty();
  if (copies) whole = MemoryFor(size);
  if (whole.empty()) return read;
  read.bytes_ = whole.subspan(sizeof(Head));
  if (!IsWhole(whole, copies ? file.get() : -1, opened->key) ||
      (copies && ::mprotect(whole.data(), size, PROT_READ) != 0))
    return {};
  const timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  ::futimens(file.get(), now);  // a file system that is read-only has none of it
  return read;
}

Status CacheFolder::Write(const std::string& name,
                          std::span<const std::span<const std::byte>> pieces,
                          const Job& job) const {
  JV_CHECK(IsName(name));
  const auto failed = [&](std::string_view why) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot write \"{}\" into \"{}\": {}", name, path_, why));
  };
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  ::mkdir(path_.c_str(), 0700);
  const auto opened = OpenToWrite(path_);
  if (!opened) return failed("it is no directory of ours");
  const int folder = opened->folder.get();
  if (WhoseIs(folder, name, Cut::kOurs) == Whose::kOthers) return failed("a file is in the way");
  Head head;
  for (const std::span<const std::byte> piece : pieces)
    head.bytes += piece.size();
  if (!HasRoom(folder, head.bytes)) return failed(std::strerror(ENOSPC));
  head.hash = HashOf(opened->key, pieces, head.bytes);
  TemporaryFile file = TemporaryFile::Beside(folder, name, kMode);
  if (!file.valid() || !file.Write({reinterpret_cast<const char*>(&head), sizeof head}))
    return failed(std::strerror(errno));
  for (std::span<const std::byte> piece : pieces) {
    while (!piece.empty()) {
      JV_TRY(job.Check());
      const std::size_t size = std::min(piece.size(), kWrittenAtOnce);
      if (!file.Write({reinterpret_cast<const char*>(piece.data()), size}))
        return failed(std::strerror(errno));
      piece = piece.subspan(size);
    }
  }
  return file.Finish() ? Status() : Status(failed(std::strerror(errno)));
}

void CacheFolder::Shrink(std::uint64_t bytes_max) const {
  const auto opened = OpenMarked(path_);
  if (!opened) return;
  const std::vector<CachedFile> files = FilesOf(opened->folder.get());
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::uint64_t total = 0;
  for (const CachedFile& file : files)
    total += file.bytes;
  for (const CachedFile& file : files) {
    const bool abandoned =
        file.temporary && file.used_ns / 1'000'000'000 + kAbandonedAfterS < now.tv_sec;
    const bool beyond = total > bytes_max && !file.temporary;
    if (!abandoned && !beyond) continue;
    if (::unlinkat(opened->folder.get(), file.name.c_str(), 0) == 0) total -= file.bytes;
  }
}

}  // namespace jarvis::io
