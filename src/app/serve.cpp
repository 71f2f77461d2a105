// jarvis serve: the MCP server on stdin and stdout, until the input ends or a signal comes; with
// --http over HTTP.
#include <chrono>
#include <memory>
#include <utility>

#include <unistd.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/serve_flags.h"
#include "app/serve_http.h"
#include "mcp/connection.h"
#include "mcp/server.h"
#include "rpc/signal_watcher.h"
#include "rpc/stdio_transport.h"

namespace jarvis::app {
namespace {

using std::chrono::milliseconds;

// Hosts kill what is still there two seconds after they closed our input. These make one second.
constexpr milliseconds kFinishPatience(500);  // for calls that are nearly done
constexpr milliseconds kStopPatience(300);    // for calls that were told to stop
constexpr milliseconds kFlushPatience(200);

mcp::ServerInfo ServerFace(const mcp::ToolSet& tools) {
  return {"jarvis", "JARVIS", JARVIS_VERSION, tools::Instructions(tools)};
}

// Leaves by _exit when a call does not stop or the client does not read: a thread is stuck then,
// and there is nothing left to save.
int End(rpc::StdioTransport& transport, rpc::StdioTransport::End reason,
        mcp::Connection& connection) {
  const bool input_ended = reason == rpc::StdioTransport::End::kInput;
  if (input_ended) connection.WaitIdle(kFinishPatience);
  connection.StopCalls();
  const bool idle = connection.WaitIdle(kStopPatience);
  const bool flushed = transport.Flush(kFlushPatience);
  if (!idle || !flushed) ::_exit(kExitOk);
  connection.Detach();
  return kExitOk;
}

// One client, on stdin and stdout.
int ServeStdio(mcp::ToolSet tools) {
  // Everything that prints on stdout from here on prints on stderr.
  auto transport = rpc::StdioTransport::Open();
  if (!transport) {
    PrintError(transport.error().message);
    return kExitFailure;
  }
  if (::isatty(STDIN_FILENO) != 0) {
    PrintError("waiting for an MCP client's messages on stdin; Ctrl-D ends. See jarvis --help");
  }
  mcp::ServerInfo face = ServerFace(tools);
  mcp::Server server(std::move(tools), std::move(face));
  const std::shared_ptr<mcp::Connection> connection = server.Connect(**transport);
  const auto watcher = rpc::SignalWatcher::Start([&](int) { (*transport)->Stop(); });
  if (!watcher) {
    PrintError(watcher.error().message);
    return kExitFailure;
  }
  return End(**transport, (*transport)->Run(*connection), *connection);
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
  int code = kExitOk;
  if (flags->rest.empty()) {
    code = ServeStdio(std::move(*tools));
  } else {
    mcp::ServerInfo face = ServerFace(*tools);
    code = ServeHttp(http, std::move(*tools), std::move(face));
  }
  // Loads that nobody waits for any more.
  if (!workspace.StopLoads(kStopPatience)) ::_exit(code);
  return code;
}

}  // namespace jarvis::app
