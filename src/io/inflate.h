// Deflated bytes inside a file that is not packed itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace jarvis::io {

// A zlib stream. Absent: it is damaged, cut off, or larger than `bytes_max`.
std::optional<std::string> InflateZlib(std::string_view packed, std::size_t bytes_max);

}  // namespace jarvis::io
