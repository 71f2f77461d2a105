#include "io/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace jarvis::io {
namespace {

Status Failed(std::string_view what, const std::string& path) {
  return Fail(ErrorCode::kIo,
              fmt::format("cannot {} \"{}\": {}", what, path, std::strerror(errno)));
}

bool WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot make directory \"{}\": {}", path, error.message()));
  }
  return {};
}

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) JV_TRY(MakeDirectories(parent.string()));
  return WriteFileAt(AT_FDCWD, path, content, path);
}

Status WriteFileAt(int folder, const std::string& name, std::string_view content,
                   const std::string& path) {
  static std::atomic<unsigned> counter{0};
  const std::string beside = fmt::format("{}.{}.{}.tmp", name, ::getpid(), counter++);
  const int fd = ::openat(folder, beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return Failed("write", path);
  const bool written = WriteAll(fd, content);
  const int write_errno = errno;
  const bool closed = ::close(fd) == 0;
  if (!written || !closed) {
    ::unlinkat(folder, beside.c_str(), 0);
    if (!written) errno = write_errno;
    return Failed("write", path);
  }
  if (::renameat(folder, beside.c_str(), folder, name.c_str()) != 0) {
    const int rename_errno = errno;
    ::unlinkat(folder, beside.c_str(), 0);
    errno = rename_errno;
    return Failed("replace", path);
  }
  return {};
}

}  // namespace jarvis::io
