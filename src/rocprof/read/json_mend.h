// What can still be read of a JSON text that was cut.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jarvis::rocprof {

// The longest beginning of a cut JSON text that ends after a whole value at most `depth_max`
// brackets deep, with the brackets closed that are open there; empty: there is none.
std::string MendJson(std::string_view text, std::size_t depth_max);

}  // namespace jarvis::rocprof
