// "Did you mean": the nearest of some names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::mcp {

// The first known name (known ones are lower case) of which the given one is the start or the
// other way round, else the one that is few slips away, if any.
std::optional<std::string> ClosestMatch(std::string_view name,
                                        const std::vector<std::string>& known);

// "a, b, c"
std::string JoinNames(const std::vector<std::string>& names);

}  // namespace jarvis::mcp
