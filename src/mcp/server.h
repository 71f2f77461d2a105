// An MCP server without a wire: tools, the threads that run them, and a Connection for each
// channel. Speaks 2026-07-28 (no handshake) and, from the same code, the four revisions with one.
//
// Threads: Connect() from any. The server outlives its connections.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "mcp/results.h"
#include "mcp/tool.h"
#include "rpc/transport.h"
#include "rpc/worker_pool.h"

namespace jarvis::mcp {

class Connection;

struct ServerOptions {
  std::size_t quick_threads = 0;  // 0: one per hardware thread, at least four
  std::size_t long_threads = 2;
  std::size_t queue_max = 256;  // calls that wait, for each cost
};

class Server {
 public:
  Server(ToolSet tools, ServerInfo info, const ServerOptions& options = {});

  // The channel must live until Connection::Detach() or the connection's end.
  std::shared_ptr<Connection> Connect(rpc::Channel& channel);
  // A connection whose messages each bring a channel.
  std::shared_ptr<Connection> Connect();

  // Does no call run or wait? Waits for it at most this long, for each cost.
  bool WaitIdle(std::chrono::milliseconds patience) {
    return quick_pool_.WaitIdle(patience) && long_pool_.WaitIdle(patience);
  }

  const ToolSet& tools() const { return tools_; }
  const ServerInfo& info() const { return info_; }
  rpc::WorkerPool& pool(ToolCost cost) {
    return cost == ToolCost::kLong ? long_pool_ : quick_pool_;
  }

 private:
  const ToolSet tools_;
  const ServerInfo info_;
  rpc::WorkerPool quick_pool_;
  rpc::WorkerPool long_pool_;
};

}  // namespace jarvis::mcp
