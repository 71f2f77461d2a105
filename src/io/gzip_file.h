// A gzip file that is written piece by piece: of any size, in bounded memory.
//
// Threads: one writer. The same pieces give the same bytes: no clock is in the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jarvis::io {

class GzipFile {
 public:
  // Writes beside `path` and renames onto it when closed; a link there is replaced, not followed.
  // `given`: the name in messages.
  static Result<std::unique_ptr<GzipFile>> Create(const std::string& path,
                                                  const std::string& given);
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile();  // not closed: the file is not there

  Status Write(std::string_view text);
  // The file's size.
  Result<std::uint64_t> Close();

 private:
  class Deflater;
  GzipFile();

  std::string given_;
  std::unique_ptr<Deflater> deflater_;
};

}  // namespace jarvis::io
