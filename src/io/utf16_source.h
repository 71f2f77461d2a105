// Text in UTF-16 with a byte order mark, as UTF-8.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/byte_source.h"

namespace jarvis::io {

class Utf16Source : public ByteSource {
 public:
  // `from` begins with the mark.
  explicit Utf16Source(std::unique_ptr<ByteSource> from);

  Result<std::size_t> Read(std::span<char> buffer) override;
  std::uint64_t consumed() const override { return from_->consumed(); }
  std::uint64_t file_size() const override { return from_->file_size(); }
  std::uint64_t content_hash() override { return from_->content_hash(); }
  const std::string& damage() const override {
    return from_->damage().empty() ? damage_ : from_->damage();
  }
  bool compressed() const override { return from_->compressed(); }

 private:
  Result<bool> Refill();

  std::unique_ptr<ByteSource> from_;
  std::vector<char> input_;
  std::size_t filled_ = 0;  // bytes of input_, of which the last may be half a unit
  std::string text_;        // converted and not handed out
  std::size_t text_at_ = 0;
  char32_t high_ = 0;  // the first half of a pair that the last piece ended with
  bool big_endian_ = false;
  bool begun_ = false;
  std::string damage_;
};

}  // namespace jarvis::io
