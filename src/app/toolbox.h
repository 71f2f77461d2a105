// All tools with what they work on, as the one-shot commands need them: any path is allowed.
#pragma once

#include "engine/workspace.h"
#include "mcp/tool.h"
#include "tools/all_tools.h"

namespace jarvis::app {

struct Toolbox {
  engine::Workspace workspace;
  mcp::ToolSet tools = tools::AllTools(workspace);
};

}  // namespace jarvis::app
