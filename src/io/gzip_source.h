// gzip of one or more members, inflated by ISA-L.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <isa-l/igzip_lib.h>

#include "io/byte_source.h"
#include "io/plain_source.h"

namespace jarvis::io {

class GzipSource : public ByteSource {
 public:
  // How far inflating has come. ISA-L keeps the text that later text may refer to inside its state
  // between calls, so that a copy of the state is all that it takes to go on.
  struct Inflating {
    inflate_state state{};
    bool inside_member = false;
    int members = 0;
  };

  // `file`: `from`, if that is a file itself; reading can begin anew in such a stream alone.
  GzipSource(std::unique_ptr<ByteSource> from, const PlainSource* file);
  // Goes on from where another source was. `file` stands at the first byte not inflated yet.
  GzipSource(std::unique_ptr<PlainSource> file, const Inflating& at);

  Result<std::size_t> Read(std::span<char> buffer) override;
  std::uint64_t consumed() const override {
    return from_->consumed() - (file_ == nullptr ? 0 : at_.state.avail_in);
  }
  std::uint64_t file_size() const override { return from_->file_size(); }
  std::uint64_t content_hash() override { return from_->content_hash(); }
  const std::string& damage() const override {
    return from_->damage().empty() ? damage_ : from_->damage();
  }
  bool compressed() const override { return true; }
  std::unique_ptr<const RestartPoint> Mark() const override;

 private:
  Status Step();
  Result<bool> Refill();
  void End(std::string damage);

  std::unique_ptr<ByteSource> from_;
  const PlainSource* file_;
  std::vector<std::uint8_t> input_;
  Inflating at_;
  bool done_ = false;
  std::string damage_;
};

}  // namespace jarvis::io
