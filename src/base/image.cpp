#include "base/image.h"

#include <algorithm>

#include <xxhash.h>

#include "base/parallel.h"

namespace jarvis {
namespace {

// Every part begins at a multiple of this, so that any type may lie there.
constexpr std::size_t kAlignment = 64;
// Shorter parts are copied: they are often on the stack of who writes them.
constexpr std::size_t kCopiedBytesMax = 4096;

std::uint64_t Aligned(std::uint64_t at) {
  return (at + kAlignment - 1) / kAlignment * kAlignment;
}

// Images are hashed in parts of this size, so that several cores can do it.
constexpr std::size_t kHashedAtOnce = std::size_t{4} << 20;

std::uint64_t Together(const std::vector<std::uint64_t>& parts) {
  return XXH3_64bits(parts.data(), parts.size() * sizeof(std::uint64_t));
}

// Of an image that comes in pieces.
class PieceHash {
 public:
  PieceHash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
  PieceHash(const PieceHash&) = delete;
  PieceHash& operator=(const PieceHash&) = delete;
  ~PieceHash() { XXH3_freeState(state_); }

  void Add(std::span<const std::byte> piece) {
    while (!piece.empty()) {
      const std::size_t bytes = std::min(piece.size(), kHashedAtOnce - filled_);
      XXH3_64bits_update(state_, piece.data(), bytes);
      filled_ += bytes;
      piece = piece.subspan(bytes);
      if (filled_ == kHashedAtOnce) EndPart();
    }
  }
  std::uint64_t Finish() {
    if (filled_ > 0) EndPart();
    return Together(parts_);
  }

 private:
  void EndPart() {
    parts_.push_back(XXH3_64bits_digest(state_));
    XXH3_64bits_reset(state_);
    filled_ = 0;
  }

  XXH3_state_t* state_;
  std::size_t filled_ = 0;
  std::vector<std::uint64_t> parts_;
};

}  // namespace

std::uint64_t ImageWriter::Hash() const {
  PieceHash hash;
  for (const std::span<const std::byte> piece : pieces_)
    hash.Add(piece);
  return hash.Finish();
}

std::uint64_t HashOfImage(std::span<const std::byte> image) {
  std::vector<std::uint64_t> parts((image.size() + kHashedAtOnce - 1) / kHashedAtOnce);
  ParallelFor(parts.size(), 0, [&](std::size_t i) {
    const std::size_t begin = i * kHashedAtOnce;
    const auto part = image.subspan(begin, std::min(kHashedAtOnce, image.size() - begin));
    parts[i] = XXH3_64bits(part.data(), part.size());
  });
  return Together(parts);
}

void ImageWriter::Append(const void* data, std::size_t bytes) {
  if (bytes == 0) return;
  pieces_.emplace_back(static_cast<const std::byte*>(data), bytes);
  bytes_ += bytes;
}

// The number of elements, then the elements.
void ImageWriter::Put(const void* data, std::size_t count, std::size_t size) {
  static constexpr std::byte kPadding[kAlignment] = {};
  const std::uint64_t number = count;
  std::vector<std::byte>& head = kept_.emplace_back(kAlignment);
  std::memcpy(head.data(), &number, sizeof number);
  Append(kPadding, Aligned(bytes_) - bytes_);
  Append(head.data(), head.size());
  const std::size_t bytes = count * size;
  if (bytes > 0 && bytes <= kCopiedBytesMax) {
    const auto* from = static_cast<const std::byte*>(data);
    data = kept_.emplace_back(from, from + bytes).data();
  }
  Append(data, bytes);
}

void ImageWriter::Texts(std::span<const std::string_view> texts) {
  std::vector<std::uint64_t> ends;
  ends.reserve(texts.size());
  std::size_t all = 0;
  for (const std::string_view text : texts)
    ends.push_back(all += text.size());
  Copy(ends);
  std::vector<std::byte>& together = kept_.emplace_back(all);
  std::size_t at = 0;
  for (const std::string_view text : texts) {
    if (!text.empty()) std::memcpy(together.data() + at, text.data(), text.size());
    at += text.size();
  }
  Put(together.data(), all, 1);
}

const std::byte* ImageReader::Take(std::size_t* count, std::size_t size) {
  const std::uint64_t head = Aligned(at_);
  *count = 0;
  if (!good_ || head > image_.size() || image_.size() - head < kAlignment) {
    good_ = false;
    return nullptr;
  }
  std::uint64_t number = 0;
  std::memcpy(&number, image_.data() + head, sizeof number);
  const std::uint64_t begin = head + kAlignment;
  if (number > (image_.size() - begin) / size) {
    good_ = false;
    return nullptr;
  }
  *count = number;
  at_ = begin + number * size;
  return number == 0 ? nullptr : image_.data() + begin;
}

}  // namespace jarvis
