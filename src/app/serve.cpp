// jarvis serve: the MCP server on stdin and stdout, until the input ends or a signal comes; with
// --http over HTTP.
#include <chrono>
#include <utility>

#include <unistd.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/serve_flags.h"
#include "app/serve_http.h"
#include "app/serve_stdio.h"
#include "rpc/signal_watcher.h"

namespace jarvis::app {
namespace {

constexpr std::chrono::milliseconds kLoadPatience(300);  // for loads that were told to stop

mcp::ServerInfo ServerFace(const mcp::ToolSet& tools) {
  return {"jarvis", "JARVIS", JARVIS_VERSION, tools::Instructions(tools)};
}

}  // namespace

int Serve(Arguments arguments) {
  const auto refuse = [](const Error& error) {
    return UsageError(error.message, "jarvis serve --help");
  };
  const auto flags = ParseServeFlags(arguments);
  if (!flags) return refuse(flags.error());
  if (flags->help) return Print(HttpFlagsHelp() + ServeFlagsHelp()) ? kExitOk : kExitFailure;
  HttpFlags http;
  if (!flags->rest.empty()) {
    auto parsed = ParseHttpFlags(flags->rest);
    if (!parsed) return refuse(parsed.error());
    http = std::move(*parsed);
  }
  auto options = WorkspaceOptionsOf(*flags);
  if (!options) return refuse(options.error());
  static_cast<void>(rpc::SignalWatcher::Block());
  engine::Workspace workspace(std::move(*options));
  auto tools = tools::ChooseTools(workspace, flags->choice);
  if (!tools) return refuse(tools.error());
  mcp::ServerInfo face = ServerFace(*tools);
  int code = kExitOk;
  if (flags->rest.empty()) {
    code = ServeStdio({std::move(*tools)}, std::move(face), {});
  } else {
    code = ServeHttp(http, {std::move(*tools)}, std::move(face), {});
  }
  // Loads that nobody waits for any more.
  if (!workspace.StopLoads(kLoadPatience)) ::_exit(code);
  return code;
}

}  // namespace jarvis::app
