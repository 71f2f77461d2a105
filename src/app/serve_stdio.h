// jarvis serve: the MCP server for one client, on stdin and stdout.
#pragma once

#include "mcp/server.h"

namespace jarvis::app {

// Until the input ends or a signal comes. From here on whatever else prints on stdout prints on
// stderr. The exit code.
// REQUIRES: rpc::SignalWatcher::Block() before any thread was started.
int ServeStdio(mcp::Catalog catalog, mcp::ServerInfo info, const mcp::ServerOptions& options);

}  // namespace jarvis::app
