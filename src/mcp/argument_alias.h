// Names that arguments had before: callers may still use them, and nothing lists them.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace jarvis::mcp {

struct ArgumentAlias {
  std::string_view old_name;
  std::string_view name;
};

// The arguments under their names of today. Errors: kBadValue if both names of one have different
// values. null under either name counts as not given.
Result<Json> RenameArguments(const std::vector<ArgumentAlias>& aliases, Json arguments);

}  // namespace jarvis::mcp
