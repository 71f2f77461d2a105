#include "io/atomic_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "io/temporary_file.h"

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
  return WritePiecesAt(
      folder, name, [content](const AddText& add) { add(content); }, path);
}

Status WritePiecesAt(int folder, const std::string& name,
                     const std::function<void(const AddText&)>& make, const std::string& path) {
  TemporaryFile file = TemporaryFile::Beside(folder, name);
  if (!file.valid()) return Failed("write", path);
  int failure = 0;  // of the first piece that could not be written
  make([&](std::string_view piece) {
    if (failure == 0 && !WriteAll(file.fd(), piece)) failure = errno;
  });
  errno = failure;
  if (failure != 0) return Failed("write", path);
  if (!file.Finish()) return Failed("replace", path);
  return {};
}

}  // namespace jarvis::io
