// The values of arguments that are no tensors: read from what the profiler wrote, or from a
// schema's default.
#pragma once

#include <optional>
#include <string_view>

#include "json/json.h"
#include "replay/op_schema.h"

namespace jarvis::replay {

// "True", "-1", "1e-05", "[1, 1]", "inf" as a value of the type; nothing if it is none. A Scalar
// without a point or an exponent stays an integer. What JSON has no number for is the text "inf",
// "-inf" or "nan".
std::optional<Json> ValueOf(const ArgType& type, std::string_view text);

// A schema's default: "None", "1", "[0, 1]", "\"mean\""; nothing if it has a form of its own.
std::optional<Json> DefaultOf(const SchemaArg& arg);

}  // namespace jarvis::replay
