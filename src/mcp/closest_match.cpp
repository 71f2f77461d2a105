#include "mcp/closest_match.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"

namespace jarvis::mcp {
namespace {

// Longer input is no slip of the pen, and the search costs time for every byte.
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kStartBytesMin = 3;

}  // namespace

std::optional<std::string> ClosestMatch(std::string_view name,
                                        const std::vector<std::string>& known) {
  if (name.empty() || name.size() > kNameBytesMax) return std::nullopt;
  const std::string lower = LowerAscii(name);
  if (lower.size() >= kStartBytesMin) {
    for (const std::string& candidate : known) {
      const bool extended = candidate.size() >= kStartBytesMin && lower.starts_with(candidate);
      if (candidate.starts_with(lower) || extended) return candidate;
    }
  }
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  if (const auto closest = Closest(name, candidates)) return std::string(*closest);
  return std::nullopt;
}

std::string JoinNames(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) {
    if (!joined.empty()) joined += ", ";
    joined += name;
  }
  return joined;
}

}  // namespace jarvis::mcp
