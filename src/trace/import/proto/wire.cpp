#include "trace/import/proto/wire.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace jarvis::proto {

double Field::Double() const {
  return std::bit_cast<double>(value);
}

Varint ReadLongVarint(const char* at, const char* end) {
  constexpr int kBytesMax = 10;
  // Times have six bytes or seven, ids two: up to eight are taken from one word, without a branch
  // for each.
  constexpr std::uint64_t kMore = 0x8080808080808080u;
  if (std::endian::native == std::endian::little && end - at >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    if (const std::uint64_t stops = ~word & kMore; stops != 0) {
      const std::uint64_t last = stops & (0 - stops);  // the bit that is missing in the last byte
      word &= (last - 1) | last;
      word &= ~kMore;
      word = (word & 0x007F007F007F007Fu) | (word & 0x7F007F007F007F00u) >> 1;
      word = (word & 0x00003FFF00003FFFu) | (word & 0x3FFF00003FFF0000u) >> 2;
      word = (word & 0x000000000FFFFFFFu) | (word & 0x0FFFFFFF00000000u) >> 4;
      return {at + (std::countr_zero(last) / 8 + 1), word, nullptr};
    }
  }
  std::uint64_t sum = 0;
  for (int i = 0; i < kBytesMax; ++i) {
    if (at == end) return {at, 0, "a number that is cut off"};
    const auto byte = static_cast<unsigned char>(*at++);
    sum |= std::uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte >= 0x80) continue;
    if (i == kBytesMax - 1 && byte > 1) return {at, 0, "a number above 64 bits"};
    return {at, sum, nullptr};
  }
  return {at, 0, "a number of more than ten bytes"};
}

bool Cursor::Fixed(std::size_t bytes, std::uint64_t* value) {
  if (static_cast<std::size_t>(end_ - at_) < bytes) return Fail("a number that is cut off");
  std::uint64_t raw = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    raw |= std::uint64_t{static_cast<unsigned char>(at_[i])} << (8 * i);
  at_ += bytes;
  *value = raw;
  return true;
}

bool Cursor::FixedOrNone(Field* field) {
  switch (field->wire) {
    case Wire::kFixed64: return Fixed(8, &field->value);
    case Wire::kFixed32: return Fixed(4, &field->value);
    default: return Fail("no type of a field");
  }
}

bool AppendIntegers(const Field& field, std::vector<std::int64_t>* out) {
  if (field.wire == Wire::kVarint) out->push_back(field.Signed());
  if (field.wire != Wire::kBytes) return true;
  const char* at = field.bytes.data();
  const char* const end = at + field.bytes.size();
  while (at != end) {
    std::uint64_t value = 0;
    if (ReadVarint(&at, end, &value) != nullptr) return false;
    out->push_back(static_cast<std::int64_t>(value));
  }
  return true;
}

std::vector<std::string_view> FirstMessages(std::string_view head, std::size_t count) {
  std::vector<std::string_view> messages;
  Cursor cursor(head);
  Field field;
  while (messages.size() < count && cursor.Next(&field)) {
    if (field.IsBytes(1)) messages.push_back(field.bytes);
  }
  if (messages.size() == count || !cursor.broken()) return messages;
  // The last goes on behind the head: its tag, its length, and what is here of it. Anything else
  // that cannot be read makes it no such file.
  const std::string_view rest = cursor.rest();
  constexpr char kFieldOneOfBytes = 0x0A;
  if (rest[0] != kFieldOneOfBytes) return {};
  const char* at = rest.data() + 1;
  const char* const end = rest.data() + rest.size();
  std::uint64_t size = 0;
  if (ReadVarint(&at, end, &size) == nullptr)
    messages.push_back({at, static_cast<std::size_t>(end - at)});
  return messages;
}

}  // namespace jarvis::proto
