#include "app/serve_stdio.h"

#include <chrono>
#include <memory>
#include <utility>

#include <unistd.h>

#include "app/console.h"
#include "app/exit_code.h"
#include "base/check.h"
#include "mcp/connection.h"
#include "rpc/signal_watcher.h"
#include "rpc/stdio_transport.h"

namespace jarvis::app {
namespace {

using std::chrono::milliseconds;

// Hosts kill what is still there two seconds after they closed our input. These make one second.
constexpr milliseconds kFinishPatience(500);     // for calls that are nearly done
constexpr milliseconds kStdioStopPatience(300);  // for calls that were told to stop
constexpr milliseconds kFlushPatience(200);

// Leaves by _exit when a call does not stop or the client does not read: a thread is stuck then,
// and there is nothing left to save.
int End(rpc::StdioTransport& transport, rpc::StdioTransport::End reason,
        mcp::Connection& connection) {
  const bool input_ended = reason == rpc::StdioTransport::End::kInput;
  if (input_ended) connection.WaitIdle(kFinishPatience);
  connection.StopCalls();
  const bool idle = connection.WaitIdle(kStdioStopPatience);
  const bool flushed = transport.Flush(kFlushPatience);
  if (!idle || !flushed) ::_exit(kExitOk);
  connection.Detach();
  return kExitOk;
}

}  // namespace

int ServeStdio(mcp::Catalog catalog, mcp::ServerInfo info, const mcp::ServerOptions& options) {
  JV_CHECK(rpc::SignalWatcher::Blocked());
  auto transport = rpc::StdioTransport::Open();
  if (!transport) {
    PrintError(transport.error().message);
    return kExitFailure;
  }
  if (::isatty(STDIN_FILENO) != 0) {
    PrintError("waiting for an MCP client's messages on stdin; Ctrl-D ends. See jarvis --help");
  }
  mcp::Server server(std::move(catalog), std::move(info), options);
  const std::shared_ptr<mcp::Connection> connection = server.Connect(**transport);
  const auto watcher = rpc::SignalWatcher::Start([&](int) { (*transport)->Stop(); });
  if (!watcher) {
    PrintError(watcher.error().message);
    return kExitFailure;
  }
  return End(**transport, (*transport)->Run(*connection), *connection);
}

}  // namespace jarvis::app
