// All tools with what they work on, as the one-shot commands need them: any path is allowed.
#pragma once

#include "app/cache_options.h"
#include "mcp/tool.h"
#include "session/workspace.h"
#include "tools/catalog/all_tools.h"

namespace jarvis::app {

struct Toolbox {
  session::Workspace workspace{{.cache = CacheOptions()}};
  mcp::ToolSet tools = tools::AllTools(workspace);
};

}  // namespace jarvis::app
