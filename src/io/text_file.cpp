#include "io/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace jarvis::io {

namespace {

Result<InputFile> Open(const FilePolicy& policy, const std::string& given) {
  Result<InputFile> file = policy.OpenInput(given);
  if (!file && file.error().code == ErrorCode::kTraceNotFound) {
    return Fail(ErrorCode::kBadValue, fmt::format("no file at \"{}\"", given));
  }
  if (!file && file.error().code == ErrorCode::kNotATrace) {
    return Fail(ErrorCode::kBadValue, fmt::format("\"{}\" is no regular file", given));
  }
  return file;
}

// As much as there is, at most `bytes`.
Result<std::string> Read(const InputFile& file, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(file.fd.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Fail(ErrorCode::kIo,
                  fmt::format("cannot read \"{}\": {}", file.given, std::strerror(errno)));
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

Result<std::string> ReadWhole(const InputFile& file, std::size_t bytes_max) {
  // The limit may be far above what the file has; the byte beyond shows that there is more.
  const auto expected = static_cast<std::size_t>(std::min<std::uint64_t>(file.size, bytes_max));
  JV_ASSIGN(std::string text, Read(file, expected + 1));
  if (text.size() > bytes_max) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("\"{}\" is larger than {} bytes", file.given, bytes_max));
  }
  if (text.size() > expected) {
    return Fail(ErrorCode::kIo, fmt::format("\"{}\" grew while it was read", file.given),
                "try again");
  }
  return text;
}

}  // namespace

Result<std::string> ReadTextFile(const FilePolicy& policy, const std::string& given,
                                 std::size_t bytes_max) {
  JV_ASSIGN(const InputFile file, Open(policy, given));
  return ReadWhole(file, bytes_max);
}

Result<std::string> ReadUnchangedFile(const std::string& path, std::size_t bytes_max) {
  JV_ASSIGN(const InputFile file, FilePolicy::OpenUnchanged(path));
  return ReadWhole(file, bytes_max);
}

Result<std::string> ReadStart(const FilePolicy& policy, const std::string& given,
                              std::size_t bytes) {
  JV_ASSIGN(const InputFile file, Open(policy, given));
  return Read(file, bytes);
}

}  // namespace jarvis::io
