// Between which memories a copy goes.
#pragma once

#include <cstdint>
#include <string_view>

namespace jarvis::analysis {

enum class CopyDirection : std::uint8_t { kToHost, kToDevice, kOnDevice, kBetweenDevices, kOther };

// By its event's name, as the profilers of the vendors, of XLA and Nsight write it: "Memcpy HtoD
// (Pageable -> Device)", "CopyHostToDevice", "MemcpyH2D". kOther: the name tells none.
CopyDirection DirectionOf(std::string_view copy);

}  // namespace jarvis::analysis
