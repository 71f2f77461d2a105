#include "rpc/turn_queue.h"

#include <iterator>
#include <utility>

namespace jarvis::rpc {

bool TurnQueue::Push(const std::string& client, Task task) {
  if (size_ >= size_max_) return false;
  Client& owner = clients_[client];
  if (owner.waiting.size() >= size_max_ - size_max_ / 4) return false;
  owner.waiting.push_back(std::move(task));
  if (owner.waiting.size() == 1) owner.turn = ++turns_;
  ++size_;
  return true;
}

const std::string* TurnQueue::Next(bool idle_clients_only) const {
  auto next = clients_.end();
  for (auto it = clients_.begin(); it != clients_.end(); ++it) {
    const Client& client = it->second;
    if (client.waiting.empty() || (idle_clients_only && client.running > 0)) continue;
    if (next == clients_.end() || client.turn < next->second.turn) next = it;
  }
  return next == clients_.end() ? nullptr : &next->first;
}

TurnQueue::Turn TurnQueue::Pop(bool idle_clients_only) {
  const std::string* const next = Next(idle_clients_only);
  if (next == nullptr) return {};
  Client& owner = clients_.find(*next)->second;
  Turn turn{next, std::move(owner.waiting.front())};
  owner.waiting.pop_front();
  owner.turn = ++turns_;
  ++owner.running;
  --size_;
  return turn;
}

const std::string* TurnQueue::Start(const std::string& client) {
  const auto owner = clients_.try_emplace(client).first;
  ++owner->second.running;
  return &owner->first;
}

void TurnQueue::Finish(const std::string& client) noexcept {
  const auto owner = clients_.find(client);
  --owner->second.running;
  if (owner->second.running == 0 && owner->second.waiting.empty()) clients_.erase(owner);
}

std::list<TurnQueue::Task> TurnQueue::TakeWaiting() noexcept {
  std::list<Task> tasks;
  for (auto it = clients_.begin(); it != clients_.end();) {
    Client& client = it->second;
    tasks.splice(tasks.end(), client.waiting);
    it = client.running == 0 ? clients_.erase(it) : std::next(it);
  }
  size_ = 0;
  return tasks;
}

bool TurnQueue::IsRunning(const std::string& client) const {
  const auto known = clients_.find(client);
  return known != clients_.end() && known->second.running > 0;
}

}  // namespace jarvis::rpc
