// The output of a run on its way to a file: all of it up to a limit, then nothing until the end,
// where the last part follows, since that is where errors stand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jarvis::launch {

class OutputLog {
 public:
  OutputLog(int file, std::uint64_t bytes_max) : file_(file), bytes_max_(bytes_max) {}
  OutputLog(const OutputLog&) = delete;
  OutputLog& operator=(const OutputLog&) = delete;

  void Add(std::string_view bytes);
  // Writes what was held back; how many bytes are missing.
  std::uint64_t Finish();

 private:
  void Write(std::string_view bytes);

  const int file_;
  const std::uint64_t bytes_max_;
  std::uint64_t written_ = 0;
  std::string tail_;            // of what came beyond the limit
  std::uint64_t left_out_ = 0;  // before the tail
};

}  // namespace jarvis::launch
