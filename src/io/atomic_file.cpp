#include "io/atomic_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "io/file_policy.h"

namespace jarvis::io {
namespace {

Status Failed(std::string_view what, const std::string& path) {
  const int error = errno;
  return Fail(error == EEXIST ? ErrorCode::kExists : ErrorCode::kIo,
              fmt::format("cannot {} \"{}\": {}", what, path, WriteProblem(error)));
}

Status WriteAndFinish(TemporaryFile file, std::string_view content, const std::string& path,
                      Existing existing) {
  if (file.valid() && file.stream() && existing == Existing::kKeep) {
    errno = EEXIST;
    return Failed("write", path);
  }
  if (!file.valid() || !file.Write(content)) return Failed("write", path);
  if (!file.Finish(existing))
    return Failed(existing == Existing::kKeep ? "write" : "replace", path);
  return {};
}

// Links followed.
Place PlaceBehind(const std::string& given) {
  struct stat status {};
  return ::stat(given.c_str(), &status) == 0 ? PlaceOf(status) : Place::kFree;
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

Status WriteFileAtomically(const std::string& path, std::string_view content, Existing existing) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) JV_TRY(MakeDirectories(parent.string()));
  return WriteFileAt(AT_FDCWD, path, content, path, existing);
}

Status WriteFileAt(int folder, const std::string& name, std::string_view content,
                   const std::string& path, Existing existing) {
  return WriteAndFinish(TemporaryFile::Beside(folder, name), content, path, existing);
}

Status WriteGivenFile(const std::string& given, std::string_view content) {
  if (PlaceBehind(given) == Place::kStream)
    return WriteAndFinish(TemporaryFile::Stream(given), content, given, Existing::kReplace);
  JV_ASSIGN(const std::string path, FilePolicy().ResolveOutput(given));
  return WriteFileAtomically(path, content);
}

bool IsReplaced(const std::string& given) {
  const Place place = PlaceBehind(given);
  return place == Place::kFile || place == Place::kOther;
}

}  // namespace jarvis::io
