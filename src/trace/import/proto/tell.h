// What a file of protocol buffers is, by its first messages.
#pragma once

#include <cstdint>
#include <string_view>

namespace jarvis::proto {

enum class FileKind : std::uint8_t {
  kOther,
  kXspace,     // planes of XLA's profiler
  kPerfetto,   // packets of Perfetto
  kHlo,        // a compiled program without a profile
  kConverted,  // binary bytes that went through a conversion of text: nobody can read them
};

// `head`: how the file begins, unpacked.
FileKind TellFile(std::string_view head);

}  // namespace jarvis::proto
