// The list of tools. Adding one: its schema in tools_schema/, its file here, its line in
// all_tools.cpp.
#pragma once

#include <string>

#include "engine/workspace.h"
#include "mcp/tool.h"

namespace jarvis::tools {

// In the order in which clients see them. The workspace must outlive the set.
mcp::ToolSet AllTools(engine::Workspace& workspace);

// How to work with the server, for the model at the other end.
std::string Instructions();

}  // namespace jarvis::tools
