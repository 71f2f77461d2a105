#include "io/utf16_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace jarvis::io {
namespace {

constexpr std::size_t kUtf16Piece = std::size_t{256} << 10;
constexpr char32_t kReplacement = 0xFFFD;  // of half a pair

void AppendUtf8(char32_t c, std::string* out) {
  const auto byte = [&](char32_t bits) { out->push_back(static_cast<char>(bits)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | c >> 6);
    byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    byte(0xE0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3F));
    byte(0x80 | (c & 0x3F));
  } else {
    byte(0xF0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3F));
    byte(0x80 | (c >> 6 & 0x3F));
    byte(0x80 | (c & 0x3F));
  }
}

bool IsHigh(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool IsLow(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

Utf16Source::Utf16Source(std::unique_ptr<ByteSource> from)
    : from_(std::move(from)), input_(kUtf16Piece) {}

Result<std::size_t> Utf16Source::Read(std::span<char> buffer) {
  while (text_at_ == text_.size()) {
    JV_ASSIGN(const bool more, Refill());
    if (!more) return 0;
  }
  const std::size_t bytes = std::min(buffer.size(), text_.size() - text_at_);
  std::memcpy(buffer.data(), text_.data() + text_at_, bytes);
  text_at_ += bytes;
  return bytes;
}

// Converts the next piece; false at the end.
Result<bool> Utf16Source::Refill() {
  text_.clear();
  text_at_ = 0;
  JV_ASSIGN(const std::size_t got, from_->Read({input_.data() + filled_, input_.size() - filled_}));
  if (got == 0) {
    if (filled_ > 0) damage_ = "the text in UTF-16 ends inside a character";
    if (high_ != 0) AppendUtf8(kReplacement, &text_);
    filled_ = 0;
    high_ = 0;
    return !text_.empty();
  }
  filled_ += got;
  std::size_t at = 0;
  for (; at + 1 < filled_; at += 2) {
    const char32_t first = static_cast<unsigned char>(input_[at]);
    const char32_t second = static_cast<unsigned char>(input_[at + 1]);
    if (!begun_) {
      begun_ = true;
      big_endian_ = first == 0xFE;
      continue;
    }
    const char32_t unit = big_endian_ ? first << 8 | second : second << 8 | first;
    if (high_ != 0) {
      const char32_t high = std::exchange(high_, 0);
      if (IsLow(unit)) {
        AppendUtf8(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), &text_);
        continue;
      }
      AppendUtf8(kReplacement, &text_);
    }
    if (IsHigh(unit)) {
      high_ = unit;
    } else {
      AppendUtf8(IsLow(unit) ? kReplacement : unit, &text_);
    }
  }
  if (at < filled_) input_[0] = input_[at];
  filled_ -= at;
  return true;
}

}  // namespace jarvis::io
