#include "mcp/server.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "mcp/connection.h"

namespace jarvis::mcp {
namespace {

constexpr std::chrono::milliseconds kBetweenNews(1000);

std::size_t QuickThreads(std::size_t wanted) {
  if (wanted > 0) return wanted;
  return std::max<std::size_t>(4, std::thread::hardware_concurrency());
}

}  // namespace

Server::Server(Catalog catalog, ServerInfo info, const ServerOptions& options)
    : catalog_(std::move(catalog)),
      info_(std::move(info)),
      options_(options),
      tasks_(changes_),
      quick_pool_(QuickThreads(options.quick_threads), options.queue_max),
      long_pool_(options.long_threads, options.queue_max) {}

Server::~Server() {
  tasks_.StopAll();
}

std::shared_ptr<Connection> Server::Connect(rpc::Channel& channel) {
  return std::make_shared<Connection>(*this, channel);
}

std::shared_ptr<Connection> Server::ConnectAs(const std::string& principal,
                                              const std::string& client) {
  return std::make_shared<Connection>(*this, principal, client);
}

// The first change is told at once, those within the next second together at its end.
void Server::Announce(const Change& change) {
  if (change.kind != Change::Kind::kResources) {
    changes_.Announce(change);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (resources_told_) {
      resources_to_tell_ = true;
      return;
    }
    resources_told_ = true;
  }
  const bool timed = timer_.After(kBetweenNews, [this] {
    bool again = false;
    {
      const std::lock_guard lock(mutex_);
      resources_told_ = false;
      again = std::exchange(resources_to_tell_, false);
    }
    if (again) Announce({Change::Kind::kResources, {}, {}, {}});
  });
  if (!timed) {  // then each is told
    const std::lock_guard lock(mutex_);
    resources_told_ = false;
  }
  changes_.Announce(change);
}

}  // namespace jarvis::mcp
