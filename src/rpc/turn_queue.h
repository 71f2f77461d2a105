// Tasks that wait, by the client who gave them: clients take turns, so that one with many tasks
// makes another wait for one of them and not for all.
//
// A client is named "OWN" or "GROUP\nOWN": groups take turns first, then the clients of one, so
// that who cannot be told from others by more than an address gains nothing by being many.
//
// Threads: none of its own; whoever has one guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>

namespace jarvis::rpc {

class TurnQueue {
 public:
  using Task = std::function<void()>;  // does not throw
  struct Turn {
    const std::string* client = nullptr;  // until Finish()
    Task task;                            // empty: nobody's turn
  };

  // Whose turn it can be.
  enum class Among { kAll, kIdleClients, kIdleGroups };  // idle: of whom nothing runs

  explicit TurnQueue(std::size_t size_max) : size_max_(size_max) {}

  // False: it is full, or this client or its group has its share of it: three quarters, seven
  // eighths.
  [[nodiscard]] bool Push(const std::string& client, Task task);
  // The next one's first task, which counts as running from now on.
  Turn Pop(Among among);
  bool HasTurn(Among among) const { return Next(among) != nullptr; }
  // A task that runs without having waited; its client, until Finish().
  const std::string* Start(const std::string& client);
  // A task that was popped or started is done. REQUIRES: it was, once.
  void Finish(const std::string& client) noexcept;

  bool empty() const { return size_ == 0; }
  bool IsAmong(const std::string& client, Among among) const;
  // All that wait; those that run still have to finish.
  std::list<Task> TakeWaiting() noexcept;

 private:
  struct Client {
    std::list<Task> waiting;  // so that none of them is lost where there is no memory
    std::size_t running = 0;
    std::uint64_t turn = 0;  // of its first task that waits: the lowest is next
  };

  struct Group {
    std::size_t waiting = 0;
    std::size_t running = 0;
    std::uint64_t turn = 0;  // as of a client
  };

  Group& GroupOf(std::string_view client) { return groups_.find(GroupName(client))->second; }
  static std::string_view GroupName(std::string_view client) {
    return client.substr(0, client.find('\n'));
  }
  // Adds a client that is not there; either with its group or not at all.
  std::map<std::string, Client>::iterator Add(const std::string& client);
  // Forgets a client, and its group, of which nothing waits or runs.
  void Tidy(std::map<std::string, Client>::iterator client) noexcept;
  // The client whose turn it is; null: nobody's.
  const std::string* Next(Among among) const;

  std::size_t size_max_;
  std::size_t size_ = 0;  // tasks that wait
  std::uint64_t turns_ = 0;
  // Those with a task that waits or runs.
  std::map<std::string, Client> clients_;
  std::map<std::string, Group, std::less<>> groups_;
};

}  // namespace jarvis::rpc
