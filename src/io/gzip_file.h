// A gzip file that is written piece by piece: of any size, in bounded memory.
//
// Threads: one writer. The same pieces give the same bytes: no clock is in the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/output_folder.h"

namespace jarvis::io {

class GzipFile {
 public:
  // REQUIRES: the name was claimed. The folder must outlive the file.
  static Result<std::unique_ptr<GzipFile>> Create(OutputFolder& folder, const std::string& name);
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile();  // not closed: the file is not there

  Status Write(std::string_view text);
  Status Close();
  std::uint64_t bytes() const;                       // of the file so far
  const std::string& path() const { return path_; }  // absolute; empty before it is closed

 private:
  class Deflater;
  GzipFile();

  std::string path_;
  std::unique_ptr<Deflater> deflater_;
};

}  // namespace jarvis::io
