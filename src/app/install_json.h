// Configurations in JSON: parsed and printed again, in the order and with the indentation that they
// had.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace jarvis::app {

// The configuration with our entry among the members of `servers`, or without it where `entry` is
// null. Errors as of WithEntry.
Result<std::string> EditJson(std::string_view servers, const std::string& text, const Json& entry);

}  // namespace jarvis::app
