#include "mcp/server.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "mcp/connection.h"

namespace jarvis::mcp {
namespace {

std::size_t QuickThreads(std::size_t wanted) {
  if (wanted > 0) return wanted;
  return std::max<std::size_t>(4, std::thread::hardware_concurrency());
}

}  // namespace

Server::Server(ToolSet tools, ServerInfo info, const ServerOptions& options)
    : tools_(std::move(tools)),
      info_(std::move(info)),
      quick_pool_(QuickThreads(options.quick_threads), options.queue_max),
      long_pool_(options.long_threads, options.queue_max) {}

std::shared_ptr<Connection> Server::Connect(rpc::Channel& channel) {
  return std::make_shared<Connection>(*this, channel);
}

std::shared_ptr<Connection> Server::Connect() {
  return std::make_shared<Connection>(*this);
}

}  // namespace jarvis::mcp
