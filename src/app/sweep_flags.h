// The flags of jarvis sweep plan and run: those of the tool's schema, and beside them those of the
// script run_train_various_channels.sh, short and long.
#pragma once

#include <string>

#include "app/commands.h"
#include "base/result.h"
#include "json/json.h"
#include "mcp/tool.h"

namespace jarvis::app {

struct SweepFlags {
  Json arguments = Json::object();  // of the tool
  bool yes = false;
  bool json = false;
  bool help = false;
};

Result<SweepFlags> ParseSweepFlags(const mcp::Tool& tool, Arguments arguments);
std::string SweepFlagsHelp(bool run);

}  // namespace jarvis::app
