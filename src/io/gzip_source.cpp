#include "io/gzip_source.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace jarvis::io {
namespace {

constexpr std::size_t kDeflatedBytes = std::size_t{256} << 10;

class GzipPoint : public RestartPoint {
 public:
  GzipPoint(std::uint64_t place, const GzipSource::Inflating& inflating)
      : place_(place), at_(inflating) {}
  Result<std::unique_ptr<ByteSource>> Open(InputFile input) const override {
    return std::make_unique<GzipSource>(std::make_unique<PlainSource>(std::move(input), place_),
                                        at_);
  }
  std::size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  std::uint64_t place_;
  GzipSource::Inflating at_;
};

}  // namespace

GzipSource::GzipSource(std::unique_ptr<ByteSource> from, const PlainSource* file)
    : from_(std::move(from)),
      file_(file),
      input_(std::min<std::size_t>(kDeflatedBytes, from_->file_size() + 1)) {
  isal_inflate_init(&at_.state);
  at_.state.crc_flag = ISAL_GZIP;
  at_.state.next_in = input_.data();
  at_.state.avail_in = 0;
}

GzipSource::GzipSource(std::unique_ptr<PlainSource> file, const Inflating& at)
    : file_(file.get()), input_(kDeflatedBytes), at_(at) {
  from_ = std::move(file);
  at_.state.next_in = input_.data();
  at_.state.avail_in = 0;
}

Result<std::size_t> GzipSource::Read(std::span<char> buffer) {
  at_.state.next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
  at_.state.avail_out =
      static_cast<std::uint32_t>(std::min<std::size_t>(buffer.size(), std::size_t{1} << 30));
  const std::uint32_t wanted = at_.state.avail_out;
  while (!done_ && at_.state.avail_out > 0)
    JV_TRY(Step());
  return wanted - at_.state.avail_out;
}

std::unique_ptr<const RestartPoint> GzipSource::Mark() const {
  if (done_ || file_ == nullptr) return nullptr;
  return std::make_unique<GzipPoint>(consumed(), at_);
}

Status GzipSource::Step() {
  if (!at_.inside_member) {
    JV_ASSIGN(const bool more, Refill());
    if (!more) {
      done_ = true;
      return {};
    }
    if (at_.members > 0 && *at_.state.next_in != 0x1f) {
      // Padding after the last member (tape blocks, some uploaders) is not data.
      End(fmt::format("{} or more bytes after the gzip stream are not gzip; ignored",
                      at_.state.avail_in));
      return {};
    }
    at_.inside_member = true;
  }
  const std::uint32_t room = at_.state.avail_out;
  const std::uint32_t input = at_.state.avail_in;
  const int code = isal_inflate(&at_.state);
  if (code < 0) {
    End(fmt::format("the gzip stream is corrupt near compressed byte {} ({})", consumed(),
                    code == ISAL_INCORRECT_CHECKSUM ? "checksum mismatch" : "invalid data"));
    return {};
  }
  if (at_.state.block_state == ISAL_BLOCK_FINISH) {
    ++at_.members;
    at_.inside_member = false;
    isal_inflate_reset(&at_.state);
    at_.state.crc_flag = ISAL_GZIP;
    return {};
  }
  if (at_.state.avail_out == room && at_.state.avail_in == input) {  // it wants more input
    JV_ASSIGN(const bool more, Refill());
    if (!more || input > 0) {
      End(fmt::format("the gzip stream is cut off after {} compressed bytes", from_->consumed()));
    }
  }
  return {};
}

// Makes sure that there is input; false at the end of the file.
Result<bool> GzipSource::Refill() {
  if (at_.state.avail_in > 0) return true;
  JV_ASSIGN(const std::size_t got,
            from_->Read({reinterpret_cast<char*>(input_.data()), input_.size()}));
  at_.state.next_in = input_.data();
  at_.state.avail_in = static_cast<std::uint32_t>(got);
  return got > 0;
}

void GzipSource::End(std::string damage) {
  damage_ = std::move(damage);
  done_ = true;
}

}  // namespace jarvis::io
