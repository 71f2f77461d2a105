// The flags of jarvis serve that hold for stdio and HTTP alike: what clients may read and write,
// how much may be loaded, which tools there are.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands.h"
#include "base/limits.h"
#include "base/result.h"
#include "mcp/server.h"
#include "session/workspace.h"
#include "tools/catalog/all_tools.h"

namespace jarvis::app {

struct ServeFlags {
  std::vector<std::string> allow_roots;  // empty: the working directory
  std::string output_root;               // empty: jarvis_out in the working directory
  std::uint64_t memory_limit = 0;        // bytes; 0: half of the machine's, at least 1 GiB
  std::uint64_t max_trace_bytes = limits::kTraceBytesMax;
  std::string cache;              // a directory or "off"; empty: as the environment says
  std::uint64_t cache_limit = 0;  // bytes; 0: as the environment says
  std::chrono::milliseconds answer_within{45'000};
  mcp::Eras eras = mcp::Eras::kBoth;
  bool allow_exec = false;  // sweep_run may start programs
  tools::ToolChoice choice{.profile = "core"};
  bool help = false;
  std::vector<std::string_view> rest;  // what is none of these, in order
};

Result<ServeFlags> ParseServeFlags(Arguments arguments);
std::string ServeFlagsHelp();

// The working directory decides what is not given: it is read and has jarvis_out below it, unless
// it is "/", which is where some hosts start servers. kBadValue: a root that is no directory.
Result<session::WorkspaceOptions> WorkspaceOptionsOf(const ServeFlags& flags);

}  // namespace jarvis::app
