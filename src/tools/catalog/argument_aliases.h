// The one table of former names of tools' arguments.
#pragma once

#include <string_view>
#include <vector>

#include "mcp/argument_alias.h"

namespace jarvis::tools {

// Of the tool of this name; the command line's flags are called alike.
std::vector<mcp::ArgumentAlias> ArgumentAliases(std::string_view tool);

}  // namespace jarvis::tools
