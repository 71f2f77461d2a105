// Rows of a CSV file of any size, one at a time, in bounded memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"

namespace jarvis::rocprof {

// Text quoted with quotes doubled inside, or bare; lines end in \n or \r\n.
class CsvStream {
 public:
  // A row beyond this is no row of a profiler.
  static constexpr std::size_t kRowBytesMax = std::size_t{1} << 20;

  explicit CsvStream(io::ByteSource& source) : source_(source) {}

  // The next row that is not empty; false at the end. Errors: kIo of the source.
  Result<bool> Next(std::vector<std::string>* fields);
  std::uint64_t row() const { return row_; }  // 1-based, of the row that Next gave
  // Why reading ended before the file did; empty: it did not.
  const std::string& damage() const { return damage_; }
  // The last row has no line end: its last value may be cut.
  bool open_end() const { return open_end_; }

 private:
  // Bytes of the next line that are in the buffer, without its end; false: no line is left.
  Result<bool> FindLine(std::string_view* line);
  Result<bool> Fill();

  io::ByteSource& source_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t row_ = 0;
  bool ended_ = false;
  bool open_end_ = false;
  std::string damage_;
};

}  // namespace jarvis::rocprof
