// In what a file is packed, by how its bytes begin.
#pragma once

#include <cstddef>
#include <string_view>

namespace jarvis::io {

enum class Packing { kNone, kGzip, kZstd, kXz, kBzip2, kLz4, kZip, kTar, kUtf16 };

// So many bytes tell.
inline constexpr std::size_t kPackingHeadBytes = 512;

// Pure; any thread.
Packing TellPacking(std::string_view head);

inline bool HoldsFiles(Packing packing) {
  return packing == Packing::kZip || packing == Packing::kTar;
}

// "a zip archive", "a file packed with zstd".
std::string_view NameOf(Packing packing);

}  // namespace jarvis::io
