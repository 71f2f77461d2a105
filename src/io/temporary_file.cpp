#include "io/temporary_file.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

namespace jarvis::io {
namespace {

constexpr std::string_view kMark = ".jarvis-";
constexpr std::string_view kEnding = ".tmp";
constexpr std::size_t kDigits = 16;
// The longest name that Linux's file systems take; the file's own name may need all of it.
constexpr std::size_t kNameBytesMax = 255;
// A pipe whose reader has taken nothing for so long has lost it.
constexpr int kReaderPatienceMs = 60'000;

// The part of a file's name that its temporary one begins with.
std::string_view Stem(std::string_view name) {
  return name.substr(0, kNameBytesMax - kMark.size() - kDigits - kEnding.size());
}

// Fails with EEXIST if there is anything of that name.
bool RenameToFree(int folder, const std::string& from, const std::string& to) {
  if (::renameat2(folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // File systems without that (NFS) have links.
  if (::linkat(folder, from.c_str(), folder, to.c_str(), 0) != 0) return false;
  ::unlinkat(folder, from.c_str(), 0);
  return true;
}

}  // namespace

Place PlaceOf(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return Place::kFile;
  return S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode) ? Place::kStream : Place::kOther;
}

Place PlaceAt(int folder, const std::string& name) {
  struct stat status {};
  return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? PlaceOf(status)
                                                                            : Place::kFree;
}

TemporaryFile TemporaryFile::Beside(int folder, const std::string& name, mode_t mode) {
  constexpr int kAttempts = 8;
  TemporaryFile file;
  struct stat there {};
  const bool free = ::fstatat(folder, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0;
  const Place place = free ? Place::kFree : PlaceOf(there);
  if (place == Place::kStream) {
    file.OpenStream(folder, name, O_NOFOLLOW);
    return file;
  }
  if (place == Place::kOther) {
    errno = S_ISDIR(there.st_mode) ? EISDIR : S_ISLNK(there.st_mode) ? ELOOP : EOPNOTSUPP;
    return file;
  }
  file.folder_ = folder;
  file.name_ = name;
  const std::size_t slash = name.rfind('/');
  const std::size_t last = slash == std::string::npos ? 0 : slash + 1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) break;
    file.beside_ = name.substr(0, last);
    file.beside_ += Stem(std::string_view(name).substr(last));
    file.beside_ += fmt::format("{}{:016x}{}", kMark, number, kEnding);
    file.fd_ = FileDescriptor(::openat(folder, file.beside_.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (file.fd_.valid() || errno != EEXIST) break;
  }
  if (!file.fd_.valid()) file.beside_.clear();
  return file;
}

TemporaryFile TemporaryFile::Stream(const std::string& path) {
  TemporaryFile file;
  file.OpenStream(AT_FDCWD, path, 0);
  return file;
}

// Without waiting for whoever reads it: nobody may ever come.
void TemporaryFile::OpenStream(int folder, const std::string& name, int flags) {
  fd_ = FileDescriptor(
      ::openat(folder, name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags));
  struct stat status {};
  if (!fd_.valid()) return;
  if (::fstat(fd_.get(), &status) == 0 && PlaceOf(status) == Place::kStream) return;
  fd_ = FileDescriptor();
  errno = EAGAIN;  // something else has come to its place
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : folder_(other.folder_),
      name_(std::move(other.name_)),
      beside_(std::exchange(other.beside_, {})),
      fd_(std::move(other.fd_)) {}

TemporaryFile::~TemporaryFile() {
  Remove();
}

void TemporaryFile::Remove() {
  if (beside_.empty()) return;
  const int kept = errno;
  ::unlinkat(folder_, beside_.c_str(), 0);
  errno = kept;
  beside_.clear();
}

bool TemporaryFile::Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_.get(), text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room = {fd_.get(), POLLOUT, 0};
      const int ready = ::poll(&room, 1, kReaderPatienceMs);
      if (ready == 0) errno = ETIMEDOUT;
      if (ready == 0 || (ready < 0 && errno != EINTR)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool TemporaryFile::Finish(Existing existing) {
  bool good = ::close(fd_.release()) == 0;
  if (stream()) return good;
  good = good && (existing == Existing::kKeep
                      ? RenameToFree(folder_, beside_, name_)
                      : ::renameat(folder_, beside_.c_str(), folder_, name_.c_str()) == 0);
  if (good)
    beside_.clear();
  else
    Remove();
  return good;
}

std::string WriteProblem(int error) {
  switch (error) {
    case ENXIO: return "nobody reads this pipe; start its reader first";
    case EPIPE: return "the reader of this pipe has gone";
    case ETIMEDOUT: return "the reader of this pipe takes nothing";
    case ELOOP: return "it is a link, and links are not replaced; remove it or give another name";
    case EOPNOTSUPP: return "it is neither a file nor a pipe; give another name";
    default: return std::strerror(error);
  }
}

bool IsTemporaryOf(std::string_view entry, std::string_view name) {
  const std::string_view stem = Stem(name);
  if (entry.size() != stem.size() + kMark.size() + kDigits + kEnding.size()) return false;
  if (!entry.starts_with(stem) || !entry.ends_with(kEnding)) return false;
  const std::string_view middle = entry.substr(stem.size(), kMark.size() + kDigits);
  return middle.starts_with(kMark) &&
         middle.find_first_not_of("0123456789abcdef", kMark.size()) == std::string_view::npos;
}

}  // namespace jarvis::io
