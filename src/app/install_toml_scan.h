// Where the tables and the keys of a TOML text stand. Values are skipped, not read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jarvis::app {

struct TomlItem {
  enum class Kind { kTable, kTableArray, kKey };
  Kind kind = Kind::kKey;
  std::vector<std::string> path;  // of a key: with its table's
  std::size_t begin = 0;          // of its first line
  std::size_t end = 0;            // after its last line
};

// In the order of the text. kBadValue, with the line, where the text is not TOML.
Result<std::vector<TomlItem>> ScanToml(std::string_view text);

}  // namespace jarvis::app
