// Where a trace goes: a file, plain or gzip, in large writes. On request white space outside of
// strings is left out on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace make_trace {

class ByteSink {
 public:
  // Throws std::runtime_error when the file cannot be made; so do the others when it cannot be
  // written. gzip when path ends in .gz.
  ByteSink(const std::string& path, bool compact);
  ~ByteSink();
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  void Append(std::string_view text);
  void Close();
  // Before compression.
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Deflate;

  void Flush();
  void WriteOut(const char* data, std::size_t size);
  void WriteDeflated(int mode);
  void AppendWithoutSpace(std::string_view text);

  std::string path_;
  int file_ = -1;
  bool compact_;
  bool in_string_ = false;
  std::string pending_;
  std::int64_t bytes_ = 0;
  std::unique_ptr<Deflate> deflate_;
};

}  // namespace make_trace
