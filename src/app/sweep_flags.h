// The flags of jarvis sweep plan and run: those of the tool's schema, and beside them those of the
// script run_train_various_channels.sh, short and long.
#pragma once

#include <string>

#include "app/commands.h"
#include "base/result.h"
#include "rpc/json.h"

namespace jarvis::app {

struct SweepFlags {
  rpc::Json arguments = rpc::Json::object();  // of the tool
  bool yes = false;
  bool json = false;
  bool help = false;
};

Result<SweepFlags> ParseSweepFlags(const rpc::Json& schema, Arguments arguments);
std::string SweepFlagsHelp(bool run);

}  // namespace jarvis::app
