// A file's own bytes, whatever they are.
#pragma once

#include <memory>
#include <string>

#include "io/byte_source.h"

struct XXH3_state_s;

namespace jarvis::io {

class PlainSource : public ByteSource {
 public:
  // From that place of the file on.
  explicit PlainSource(InputFile input, std::uint64_t place = 0);
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;
  ~PlainSource() override;

  Result<std::size_t> Read(std::span<char> buffer) override;
  std::uint64_t consumed() const override { return read_; }
  std::uint64_t file_size() const override { return input_.size; }
  std::uint64_t content_hash() override;
  const std::string& damage() const override { return damage_; }
  bool compressed() const override { return false; }
  std::unique_ptr<const RestartPoint> Mark() const override;

  // Goes on at that place of the file.
  void Seek(std::uint64_t place);
  std::uint64_t place() const { return place_; }

 private:
  InputFile input_;
  std::uint64_t place_;
  std::uint64_t read_;  // bytes so far; as if all before the first place had been
  bool in_order_;       // from the file's begin on, so that the hash can be made in passing
  XXH3_state_s* hash_;
  std::string damage_;  // always empty
};

}  // namespace jarvis::io
