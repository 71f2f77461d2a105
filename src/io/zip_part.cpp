#include "io/zip_part.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "base/check.h"

namespace jarvis::io {
namespace {

// Level 1 takes a fifteenth of zlib's time and makes the files a third larger; higher levels of
// the library take more time for next to nothing.
constexpr int kZipLevel = 1;
constexpr std::size_t kDeflatedPiece = std::size_t{64} << 10;
constexpr std::uint16_t kDeflateMethod = 8;
constexpr std::uint16_t kVersion = 20;     // of the format: directories and deflate
constexpr std::uint16_t kFirstDay = 0x21;  // 1980-01-01, the earliest that can be said
constexpr std::uint64_t kSizeMax = std::numeric_limits<std::uint32_t>::max() - 1;

void Append16(std::uint32_t value, std::string* out) {
  out->push_back(static_cast<char>(value & 0xFF));
  out->push_back(static_cast<char>(value >> 8 & 0xFF));
}

void Append32(std::uint32_t value, std::string* out) {
  Append16(value & 0xFFFF, out);
  Append16(value >> 16, out);
}

// What a part's own head and its entry in the directory have in common.
void AppendFacts(const ZipPart& part, std::string* out) {
  Append16(kVersion, out);
  Append16(0, out);  // nothing special
  Append16(kDeflateMethod, out);
  Append16(0, out);  // midnight
  Append16(kFirstDay, out);
  Append32(part.checksum(), out);
  Append32(static_cast<std::uint32_t>(part.deflated().size()), out);
  Append32(static_cast<std::uint32_t>(part.size()), out);
  Append16(static_cast<std::uint32_t>(part.name().size()), out);
  Append16(0, out);  // no further fields
}

}  // namespace

struct ZipPart::Stream {
  isal_zstream state{};
  std::vector<std::uint8_t> level = std::vector<std::uint8_t>(ISAL_DEF_LVL1_DEFAULT);

  Stream() {
    isal_deflate_init(&state);
    state.level = kZipLevel;
    state.level_buf = level.data();
    state.level_buf_size = static_cast<std::uint32_t>(level.size());
    state.flush = NO_FLUSH;
  }
};

ZipPart::ZipPart(std::string name) : name_(std::move(name)), stream_(std::make_unique<Stream>()) {}
ZipPart::ZipPart(ZipPart&&) noexcept = default;
ZipPart& ZipPart::operator=(ZipPart&&) noexcept = default;
ZipPart::~ZipPart() = default;

void ZipPart::Add(std::string_view text) {
  JV_CHECK(stream_ != nullptr);
  checksum_ =
      crc32_gzip_refl(checksum_, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  size_ += text.size();
  Deflate(text, false);
}

void ZipPart::Finish() {
  JV_CHECK(stream_ != nullptr);
  Deflate({}, true);
  stream_.reset();
}

void ZipPart::Deflate(std::string_view text, bool last) {
  isal_zstream& state = stream_->state;
  do {
    const std::size_t piece =
        std::min<std::size_t>(text.size(), std::numeric_limits<std::uint32_t>::max() / 2);
    // The library only reads what it is given to read.
    state.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    state.avail_in = static_cast<std::uint32_t>(piece);
    text.remove_prefix(piece);
    state.end_of_stream = last && text.empty() ? 1 : 0;
    do {
      const std::size_t before = deflated_.size();
      deflated_.resize(before + kDeflatedPiece);
      state.next_out = reinterpret_cast<std::uint8_t*>(deflated_.data() + before);
      state.avail_out = kDeflatedPiece;
      JV_CHECK(isal_deflate(&state) == COMP_OK);
      deflated_.resize(deflated_.size() - state.avail_out);
    } while (state.avail_out == 0);
  } while (!text.empty());
}

Result<std::string> JoinZip(std::vector<ZipPart> parts) {
  std::string out;
  std::string directory;
  constexpr std::size_t kFacts = 64;  // of a part, and more
  std::size_t size = 0;
  for (const ZipPart& part : parts)
    size += part.deflated().size() + 2 * (part.name().size() + kFacts);
  out.reserve(size + kFacts);
  for (ZipPart& part : parts) {
    const std::size_t start = out.size();
    if (part.size() > kSizeMax || start + part.deflated().size() > kSizeMax) {
      return Fail(ErrorCode::kTooLarge, fmt::format("{}: beyond 4 GiB", part.name()));
    }
    out += "PK\x03\x04";
    AppendFacts(part, &out);
    out += part.name();
    out += part.deflated();
    directory += "PK\x01\x02";
    Append16(kVersion, &directory);  // of who made it
    AppendFacts(part, &directory);
    Append16(0, &directory);  // no comment
    Append16(0, &directory);  // the first disk
    Append16(0, &directory);  // nothing known of its inside
    Append32(0, &directory);  // nor of its rights
    Append32(static_cast<std::uint32_t>(start), &directory);
    directory += part.name();
    part.Drop();
  }
  if (out.size() + directory.size() > kSizeMax ||
      parts.size() > std::numeric_limits<std::uint16_t>::max() - 1) {
    return Fail(ErrorCode::kTooLarge, "an archive beyond 4 GiB or 65,534 parts");
  }
  const std::size_t directory_start = out.size();
  const auto count = static_cast<std::uint32_t>(parts.size());
  out += directory;
  out += "PK\x05\x06";
  Append32(0, &out);  // one disk
  Append16(count, &out);
  Append16(count, &out);
  Append32(static_cast<std::uint32_t>(directory.size()), &out);
  Append32(static_cast<std::uint32_t>(directory_start), &out);
  Append16(0, &out);  // no comment
  return out;
}

}  // namespace jarvis::io
