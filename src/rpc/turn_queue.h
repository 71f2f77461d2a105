// Tasks that wait, by the client who gave them: clients take turns, so that one with many tasks
// makes another wait for one of them and not for all.
//
// Threads: none of its own; whoever has one guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>

namespace jarvis::rpc {

class TurnQueue {
 public:
  using Task = std::function<void()>;  // does not throw
  struct Turn {
    const std::string* client = nullptr;  // until Finish()
    Task task;                            // empty: nobody's turn
  };

  explicit TurnQueue(std::size_t size_max) : size_max_(size_max) {}

  // False: it is full, or this client has its share of it, three quarters.
  [[nodiscard]] bool Push(const std::string& client, Task task);
  // The next one's first task, which counts as running from now on. `idle_clients_only`: the next
  // of those who have none running.
  Turn Pop(bool idle_clients_only);
  bool HasTurn(bool idle_clients_only) const { return Next(idle_clients_only) != nullptr; }
  // A task that runs without having waited; its client, until Finish().
  const std::string* Start(const std::string& client);
  // A task that was popped or started is done. REQUIRES: it was, once.
  void Finish(const std::string& client) noexcept;

  bool empty() const { return size_ == 0; }
  bool IsRunning(const std::string& client) const;
  // All that wait; those that run still have to finish.
  std::list<Task> TakeWaiting() noexcept;

 private:
  struct Client {
    std::list<Task> waiting;  // so that none of them is lost where there is no memory
    std::size_t running = 0;
    std::uint64_t turn = 0;  // of its first task that waits: the lowest is next
  };

  // The client whose turn it is; null: nobody's.
  const std::string* Next(bool idle_clients_only) const;

  std::size_t size_max_;
  std::size_t size_ = 0;  // tasks that wait
  std::uint64_t turns_ = 0;
  std::map<std::string, Client> clients_;  // those with a task that waits or runs
};

}  // namespace jarvis::rpc
