#include "mcp/argument_alias.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace jarvis::mcp {

Result<Json> RenameArguments(const std::vector<ArgumentAlias>& aliases, Json arguments) {
  for (const ArgumentAlias& alias : aliases) {
    const std::string old_name(alias.old_name);
    const std::string name(alias.name);
    if (!arguments.contains(old_name)) continue;
    Json value = arguments.at(old_name);
    arguments.erase(old_name);
    if (value.is_null()) continue;
    if (!arguments.contains(name) || arguments.at(name).is_null()) {
      arguments[name] = std::move(value);
    } else if (!(arguments.at(name) == value)) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("{} and its former name {} have different values", name, old_name),
                  "give " + name + " alone");
    }
  }
  return arguments;
}

}  // namespace jarvis::mcp
