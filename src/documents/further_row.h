// The row of recommendations that stands for findings without a card: "below" is right in the
// report itself; who shows its front alone says something else.
#pragma once

#include <string_view>

namespace jarvis::documents {

inline constexpr std::string_view kFurtherRow = "Further findings (listed below)";

}  // namespace jarvis::documents
