#include "io/cache_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <tuple>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "io/temporary_file.h"

namespace jarvis::io {
namespace {

// Between two looks at whether the writing was cancelled.
constexpr std::size_t kWrittenAtOnce = std::size_t{8} << 20;
// A temporary file that nobody has written to for so long has lost its writer.
constexpr std::int64_t kAbandonedAfterS = 3600;

struct CachedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t used_ns = 0;
};

std::int64_t TimeNs(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::vector<CachedFile> FilesOf(int folder) {
  std::vector<CachedFile> files;
  FileDescriptor listed(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listed.valid()) return files;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(listed.get()), &::closedir);
  if (stream == nullptr) return files;
  listed.release();  // the stream closes it
  while (const dirent* entry = ::readdir(stream.get())) {
    struct stat status {};
    if (::fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    files.push_back(
        {entry->d_name, static_cast<std::uint64_t>(status.st_size), TimeNs(status.st_mtim)});
  }
  std::sort(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
    return std::tie(a.used_ns, a.name) < std::tie(b.used_ns, b.name);
  });
  return files;
}

bool IsTemporary(const std::string& name) {
  const std::size_t mark = name.rfind(".jarvis-");
  return mark != std::string::npos && IsTemporaryOf(name, name.substr(0, mark));
}

bool HasRoom(int folder, std::span<const std::span<const std::byte>> pieces) {
  std::uint64_t bytes = 0;
  for (const std::span<const std::byte> piece : pieces)
    bytes += piece.size();
  struct statvfs status {};
  return ::fstatvfs(folder, &status) == 0 &&
         bytes <= std::uint64_t{status.f_bavail} * status.f_frsize / 2;
}

// Whether nobody but us can have written what lies there.
bool IsOurs(int folder) {
  struct stat status {};
  return ::fstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

std::string CacheFolder::DefaultPath() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  // One that is not absolute is to be ignored, says the XDG base directory specification.
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/jarvis";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/jarvis" : "";
}

FileDescriptor CacheFolder::Open() const {
  if (path_.empty()) return {};
  FileDescriptor folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return folder.valid() && IsOurs(folder.get()) ? std::move(folder) : FileDescriptor();
}

std::vector<std::string> CacheFolder::Names() const {
  std::vector<std::string> names;
  const FileDescriptor folder = Open();
  if (!folder.valid()) return names;
  for (CachedFile& file : FilesOf(folder.get()))
    names.push_back(std::move(file.name));
  return names;
}

MappedFile CacheFolder::Map(const std::string& name) const {
  MappedFile mapped;
  const FileDescriptor folder = Open();
  if (!folder.valid()) return mapped;
  const FileDescriptor file(
      ::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size <= 0)
    return mapped;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) return mapped;
  mapped.bytes_ = {static_cast<std::byte*>(memory), bytes};
  const timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  ::futimens(file.get(), now);  // a file system that is read-only has none of it
  return mapped;
}

Status CacheFolder::Write(const std::string& name,
                          std::span<const std::span<const std::byte>> pieces,
                          const Job& job) const {
  const auto failed = [&] {
    return Fail(ErrorCode::kIo, fmt::format("cannot write \"{}\" into \"{}\": {}", name, path_,
                                            std::strerror(errno)));
  };
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  ::mkdir(path_.c_str(), 0700);
  const FileDescriptor folder = Open();
  if (!folder.valid()) return failed();
  if (!HasRoom(folder.get(), pieces)) {
    errno = ENOSPC;
    return failed();
  }
  TemporaryFile file = TemporaryFile::Beside(folder.get(), name);
  if (!file.valid()) return failed();
  for (std::span<const std::byte> piece : pieces) {
    while (!piece.empty()) {
      JV_TRY(job.Check());
      const ssize_t written =
          ::write(file.fd(), piece.data(), std::min(piece.size(), kWrittenAtOnce));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed();
      piece = piece.subspan(static_cast<std::size_t>(written));
    }
  }
  return file.Finish() ? Status() : Status(failed());
}

void CacheFolder::Shrink(std::uint64_t bytes_max) const {
  const FileDescriptor folder = Open();
  if (!folder.valid()) return;
  std::vector<CachedFile> files = FilesOf(folder.get());
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::uint64_t total = 0;
  for (const CachedFile& file : files)
    total += file.bytes;
  for (const CachedFile& file : files) {
    const bool abandoned =
        IsTemporary(file.name) && file.used_ns / 1'000'000'000 + kAbandonedAfterS < now.tv_sec;
    const bool beyond = total > bytes_max && !IsTemporary(file.name);
    if (!abandoned && !beyond) continue;
    if (::unlinkat(folder.get(), file.name.c_str(), 0) == 0) total -= file.bytes;
  }
}

}  // namespace jarvis::io
