#include "io/inflate.h"

#include <algorithm>
#include <cstdint>

#include <isa-l/igzip_lib.h>

namespace jarvis::io {

std::optional<std::string> InflateZlib(std::string_view packed, std::size_t bytes_max) {
  constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
  if (packed.size() > UINT32_MAX) return std::nullopt;
  inflate_state state{};
  isal_inflate_init(&state);
  state.crc_flag = ISAL_ZLIB;
  // ISA-L reads through a pointer to what may be changed, and changes nothing.
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data()));
  state.avail_in = static_cast<std::uint32_t>(packed.size());
  std::string text;
  while (state.block_state != ISAL_BLOCK_FINISH) {
    const std::size_t before = text.size();
    const std::size_t room = std::min(kPieceBytes, bytes_max + 1 - before);
    text.resize(before + room);
    state.next_out = reinterpret_cast<std::uint8_t*>(text.data() + before);
    state.avail_out = static_cast<std::uint32_t>(room);
    if (isal_inflate(&state) < 0) return std::nullopt;
    text.resize(text.size() - state.avail_out);
    if (text.size() > bytes_max) return std::nullopt;
    // Nothing more comes of what is there: it is cut off.
    if (text.size() == before && state.avail_in == 0) return std::nullopt;
  }
  return text;
}

}  // namespace jarvis::io
