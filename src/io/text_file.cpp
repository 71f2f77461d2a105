#include "io/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace jarvis::io {

Result<std::string> ReadTextFile(const FilePolicy& policy, const std::string& given,
                                 std::size_t bytes_max) {
  const Result<InputFile> file = policy.OpenInput(given);
  if (!file && file.error().code == ErrorCode::kTraceNotFound) {
    return Fail(ErrorCode::kBadValue, fmt::format("no file at \"{}\"", given));
  }
  if (!file && file.error().code == ErrorCode::kNotATrace) {
    return Fail(ErrorCode::kBadValue, fmt::format("\"{}\" is no regular file", given));
  }
  if (!file) return tl::make_unexpected(file.error());
  // The limit may be far above what the file has.
  const auto expected = static_cast<std::size_t>(std::min<std::uint64_t>(file->size, bytes_max));
  std::string text(expected + 1, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(file->fd.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Fail(ErrorCode::kIo,
                  fmt::format("cannot read \"{}\": {}", given, std::strerror(errno)));
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled > bytes_max) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("\"{}\" is larger than {} bytes", given, bytes_max));
  }
  if (filled > expected) {
    return Fail(ErrorCode::kIo, fmt::format("\"{}\" grew while it was read", given), "try again");
  }
  text.resize(filled);
  return text;
}

}  // namespace jarvis::io
