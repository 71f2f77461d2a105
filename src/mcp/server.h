// An MCP server without a wire: what it offers, the threads that work, and a Connection for each
// channel. Speaks 2026-07-28 (no handshake) and, from the same code, the four revisions with one.
//
// Threads: Connect() and Announce() from any. The server outlives its connections.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "mcp/catalog.h"
#include "mcp/changes.h"
#include "mcp/request_state.h"
#include "mcp/results.h"
#include "mcp/tasks.h"
#include "rpc/timer.h"
#include "rpc/transport.h"
#include "rpc/worker_pool.h"

namespace jarvis::mcp {

class Connection;

// Which clients are answered. For finding out what is wrong with one.
enum class Eras { kBoth, kHandshake, kStateless };

struct ServerOptions {
  std::size_t quick_threads = 0;  // 0: one per hardware thread, at least four
  std::size_t long_threads = 2;
  std::size_t queue_max = 256;  // calls that wait, for each cost
  Eras eras = Eras::kBoth;
  std::size_t page_size = 100;                    // of lists
  std::chrono::milliseconds task_patience{1500};  // before a call becomes a task
};

class Server {
 public:
  Server(Catalog catalog, ServerInfo info, const ServerOptions& options = {});
  ~Server();

  // The channel must live until Connection::Detach() or the connection's end.
  std::shared_ptr<Connection> Connect(rpc::Channel& channel);
  // A connection whose messages each bring a channel: for one request, or for a session of many.
  // `client`: who takes turns at the workers (rpc/turn_queue.h).
  std::shared_ptr<Connection> ConnectAs(const std::string& principal, const std::string& client);
  // The name, among those who take turns, of a client that is nobody in particular.
  std::string NextClient() { return "#" + std::to_string(++clients_); }

  // Does no call run or wait? Waits for it at most this long, for each cost.
  bool WaitIdle(std::chrono::milliseconds patience) {
    return quick_pool_.WaitIdle(patience) && long_pool_.WaitIdle(patience);
  }

  // Tells everybody who listens. Changes of lists within a second are told once.
  void Announce(const Change& change);

  const Catalog& catalog() const { return catalog_; }
  const ServerInfo& info() const { return info_; }
  const ServerOptions& options() const { return options_; }
  const RequestStates& states() const { return states_; }
  Changes& changes() { return changes_; }
  Tasks& tasks() { return tasks_; }
  rpc::Timer& timer() { return timer_; }
  rpc::WorkerPool& pool(ToolCost cost) {
    return cost == ToolCost::kLong ? long_pool_ : quick_pool_;
  }

 private:
  const Catalog catalog_;
  const ServerInfo info_;
  const ServerOptions options_;
  const RequestStates states_;
  Changes changes_;
  Tasks tasks_;
  std::atomic<std::uint64_t> clients_ = 0;
  std::mutex mutex_;
  bool resources_told_ = false;  // a moment ago; the next telling waits
  bool resources_to_tell_ = false;
  rpc::WorkerPool quick_pool_;
  rpc::WorkerPool long_pool_;
  rpc::Timer timer_;  // the first to go: what it does needs the rest
};

}  // namespace jarvis::mcp
