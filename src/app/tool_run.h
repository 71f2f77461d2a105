// One tool call from the command line, with a progress line and Ctrl-C.
#pragma once

#include "json/json.h"
#include "mcp/tool.h"

namespace jarvis::app {

// Which half of the reply, the text if there is no other; or its headline alone.
enum class Output { kText, kJson, kSummary };

// The exit code: kExitFailure when the arguments do not fit or the tool says no.
// REQUIRES: rpc::SignalWatcher::Block() before any thread was started.
int RunTool(const mcp::Tool& tool, const Json& arguments, Output output);

std::string TextOf(const mcp::ToolReply& reply, Output output);

// The same without printing the answer. REQUIRES: as above.
int RunTool(const mcp::Tool& tool, const Json& arguments, mcp::ToolReply* reply);

// The tool of this name, dashes counting as underscores; null if there is none.
const mcp::Tool* FindTool(const mcp::ToolSet& tools, std::string_view name);

}  // namespace jarvis::app
