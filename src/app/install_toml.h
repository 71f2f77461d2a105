// Configurations in TOML: only the lines of our table are touched, so that comments and layout
// stay.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace jarvis::app {

// The configuration with our entry as a table below `servers`, or without it where `entry` is null.
// Errors as of WithEntry.
Result<std::string> EditToml(std::string_view servers, const std::string& text, const Json& entry);

}  // namespace jarvis::app
