// Messages of protocol buffers, for tests that need a few bytes of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jarvis::testing {

inline std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string Number(std::uint32_t field, std::uint64_t value) {
  return Varint(std::uint64_t{field} << 3) + Varint(value);
}
inline std::string Bytes(std::uint32_t field, std::string_view bytes) {
  return Varint(std::uint64_t{field} << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}

}  // namespace jarvis::testing
