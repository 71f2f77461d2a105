// The subset of JSON Schema that tools_schema/ is written in, for arguments (forgiving) and for
// results (strict).
//
// Keywords: type (one or several), enum, const, properties, required, additionalProperties, items,
// minItems, maxItems, minimum, maximum, minLength, maxLength, default; title and description are
// for readers, x-mcp-header for gateways. Anything else is refused by CheckSchema, so that no rule
// is silently ignored.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace jarvis::mcp {

// Longer strings are no sensible argument.
inline constexpr std::size_t kStringBytesMax = std::size_t{1} << 20;

struct Normalized {
  Json value;
  std::vector<std::string> notes;  // what was changed and the caller should know
};

// The arguments as the handler wants them: defaults filled in, "10" for an integer converted,
// "true" for a boolean, a list or an object that was sent as text, one text for a list of texts,
// enum values in the schema's spelling, null for an optional argument
// dropped, an integer named `limit` lowered to its maximum (with a note). Errors: kUnknownArgument
// with the closest and all names, kBadValue with path, expected, received. REQUIRES: `schema`
// passes CheckSchema and `arguments` is an object.
Result<Normalized> Normalize(const Json& schema, const Json& arguments);

// Does the value fit, as it is?
Status Validate(const Json& schema, const Json& value);

// What a value must be, for people: "an integer from 1 to 200", "one of: a, b".
std::string Expected(const Json& schema);

// The names in `properties`, in order.
std::vector<std::string> PropertyNames(const Json& schema);

}  // namespace jarvis::mcp
