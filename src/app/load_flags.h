// Flags of load_trace on commands that take a trace: which part of the recording or rank is meant,
// and what was recorded while its GPU graphs were captured. Over MCP load_trace takes these, and
// other calls name the trace that it made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "mcp/tool.h"

namespace jarvis::app {

// Takes those flags out of the words that the tool has no arguments of its own for; by argument of
// load_trace, values as written.
Json TakeLoadFlags(const Json& schema, std::vector<std::string_view>* words);
// Their lines in a tool's help.
std::string LoadFlagsHelp(const Json& schema);

// Loads `trace` so; afterwards it names what was loaded. An exit code.
int LoadWithFlags(const mcp::ToolSet& tools, const Json& flags, Json* trace);

}  // namespace jarvis::app
