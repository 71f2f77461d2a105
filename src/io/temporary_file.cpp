#include "io/temporary_file.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

namespace jarvis::io {
namespace {

constexpr std::string_view kMark = ".jarvis-";
constexpr std::string_view kEnding = ".tmp";
constexpr std::size_t kDigits = 16;
// The longest name that Linux's file systems take; the file's own name may need all of it.
constexpr std::size_t kNameBytesMax = 255;

// The part of a file's name that its temporary one begins with.
std::string_view Stem(std::string_view name) {
  return name.substr(0, kNameBytesMax - kMark.size() - kDigits - kEnding.size());
}

}  // namespace

TemporaryFile TemporaryFile::Beside(int folder, const std::string& name) {
  constexpr int kAttempts = 8;
  TemporaryFile file;
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
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (file.fd_.valid() || errno != EEXIST) break;
  }
  if (!file.fd_.valid()) file.beside_.clear();
  return file;
}

TemporaryFile TemporaryFile::Beside(const std::string& path) {
  return Beside(AT_FDCWD, path);
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

bool TemporaryFile::Finish() {
  const bool good = ::close(fd_.release()) == 0 &&
                    ::renameat(folder_, beside_.c_str(), folder_, name_.c_str()) == 0;
  if (good)
    beside_.clear();
  else
    Remove();
  return good;
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
