// URIs of our resources: jarvis://KIND/NAME..., and file:///PATH for files that tools wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::tools {

struct ResourceUri {
  std::vector<std::string> parts;  // {"trace", "t_0249497b", "table", "ops_summary"}; decoded
  std::string path;                // of file:///; then there are no parts
  std::uint64_t cursor = 0;        // ?cursor=N: a place in the text
};
// Nothing: not of ours, or a form that could be read in two ways ("..", empty parts, "%2F", NUL).
std::optional<ResourceUri> ParseResourceUri(std::string_view uri);

// file:///data/a%20b.csv
std::string FileUri(std::string_view path);
std::string MimeTypeOf(std::string_view path);

}  // namespace jarvis::tools
