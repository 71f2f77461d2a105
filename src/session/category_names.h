// The names by which people and files know a category.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jarvis::session {

// Lower case, spaces and slashes as underscores: "CONV_fwd" -> "conv_fwd"; an empty one is "other".
std::string CategoryKey(std::string_view category);

// Whether a category is meant by a name that somebody gave: its key in any case, or an alias such
// as "convolution" (forward and backward), "norm", "attention", "moe", "communication".
bool CategoryMatches(std::string_view wanted, std::string_view category);

}  // namespace jarvis::session
