#include "base/image.h"

namespace jarvis {
namespace {

// Every part begins at a multiple of this, so that any type may lie there.
constexpr std::size_t kAlignment = 64;
// Shorter parts are copied: they are often on the stack of who writes them.
constexpr std::size_t kCopiedBytesMax = 4096;

std::uint64_t Aligned(std::uint64_t at) {
  return (at + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

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
