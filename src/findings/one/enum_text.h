// The text of an enumeration whose values are numbered from 0.
#pragma once

#include <cstddef>
#include <string_view>

namespace jarvis::findings {

template <typename Enum, std::size_t N>
std::string_view EnumText(const std::string_view (&texts)[N], Enum value) {
  return texts[static_cast<std::size_t>(value)];
}

}  // namespace jarvis::findings
