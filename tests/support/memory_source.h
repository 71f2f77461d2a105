// Bytes of a test as a file: handed out in pieces of a chosen size.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "io/byte_source.h"

namespace jarvis::testing {

class MemorySource : public io::ByteSource {
 public:
  explicit MemorySource(std::string text, std::size_t piece_bytes = std::string::npos)
      : text_(std::move(text)), piece_bytes_(piece_bytes) {}

  Result<std::size_t> Read(std::span<char> buffer) override {
    const std::size_t bytes = std::min({buffer.size(), piece_bytes_, text_.size() - at_});
    if (bytes > 0) std::memcpy(buffer.data(), text_.data() + at_, bytes);
    at_ += bytes;
    return bytes;
  }
  std::uint64_t consumed() const override { return at_; }
  std::uint64_t file_size() const override { return text_.size(); }
  std::uint64_t content_hash() override { return 0; }
  const std::string& damage() const override { return damage_; }
  bool compressed() const override { return false; }

 private:
  std::string text_;
  std::size_t piece_bytes_;
  std::size_t at_ = 0;
  std::string damage_;
};

}  // namespace jarvis::testing
