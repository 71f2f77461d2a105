// Why something in a trace could not happen earlier than it did.
#pragma once

#include <cstdint>
#include <string_view>

namespace jarvis::analysis {

enum class EdgeKind : std::uint8_t { kHostSegment, kHostCall, kLaunch, kStream, kGpuWork, kSync };
std::string_view EdgeKindText(EdgeKind kind);

}  // namespace jarvis::analysis
