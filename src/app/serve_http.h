// jarvis serve --http: the MCP server for clients that come over HTTP.
#pragma once

#include <string>
#include <vector>

#include "app/commands.h"
#include "base/result.h"
#include "mcp/catalog.h"
#include "mcp/server.h"
#include "rpc/http_server.h"

namespace jarvis::app {

struct HttpFlags {
  rpc::HttpAddress address;
  std::string token_file;
  std::vector<std::string> origins;
  std::vector<std::string> hosts;
  std::string authorization_server;
  std::string resource_url;
  rpc::HttpLimits limits;
  std::chrono::milliseconds session_time{3'600'000};
  bool help = false;
};

// Refuses what would be unsafe: another address than loopback without a token.
Result<HttpFlags> ParseHttpFlags(Arguments arguments);
std::string HttpFlagsHelp();

// Until SIGTERM or SIGINT. Says on stderr where it listens. The exit code.
// REQUIRES: rpc::SignalWatcher::Block() before any thread was started.
int ServeHttp(const HttpFlags& flags, mcp::Catalog catalog, mcp::ServerInfo info,
              const mcp::ServerOptions& options);

}  // namespace jarvis::app
