// The single rules of a schema, shared by Normalize and Validate. Internal to mcp/schema*.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace jarvis::mcp::schema_rules {

std::vector<std::string> Types(const Json& schema);  // empty: any
bool HasType(const Json& schema, std::string_view type);
bool TypeFits(const Json& schema, const Json& value);

// kBadValue: "limit: expected an integer from 1 to 200, received 0".
tl::unexpected<Error> Mismatch(const std::string& path, const Json& schema, const Json& received);

// enum, const, and the bounds of numbers, strings and array lengths. Not members and not elements.
Status CheckBounds(const Json& schema, const Json& value, const std::string& path);

std::string MemberPath(const std::string& path, const std::string& name);
std::string ElementPath(const std::string& path, std::size_t index);

}  // namespace jarvis::mcp::schema_rules
