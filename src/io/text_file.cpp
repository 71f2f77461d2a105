#include "io/text_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace jarvis::io {

Result<std::string> ReadTextFile(const std::string& path, std::size_t bytes_max) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {  // a pipe would make us wait
    return Fail(ErrorCode::kBadValue, fmt::format("no file at \"{}\"", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Fail(ErrorCode::kIo, fmt::format("cannot open \"{}\": {}", path, std::strerror(errno)));
  }
  // Piece by piece: the limit may be far above what the file has.
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string text;
  while (file && text.size() <= bytes_max) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    file.read(text.data() + before, static_cast<std::streamsize>(kPiece));
    text.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) {
    return Fail(ErrorCode::kIo, fmt::format("cannot read \"{}\": {}", path, std::strerror(errno)));
  }
  if (text.size() > bytes_max) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("\"{}\" is larger than {} bytes", path, bytes_max));
  }
  return text;
}

}  // namespace jarvis::io
