#include "rpc/turn_queue.h"

#include <iterator>
#include <utility>

namespace jarvis::rpc {

std::map<std::string, TurnQueue::Client>::iterator TurnQueue::Add(const std::string& client) {
  const auto group = groups_.try_emplace(std::string(GroupName(client))).first;
  try {
    return clients_.try_emplace(client).first;
  } catch (const std::bad_alloc&) {
    if (group->second.waiting + group->second.running == 0) groups_.erase(group);
    throw;
  }
}

void TurnQueue::Tidy(std::map<std::string, Client>::iterator client) noexcept {
  const auto group = groups_.find(GroupName(client->first));
  if (client->second.running == 0 && client->second.waiting.empty()) clients_.erase(client);
  if (group->second.running + group->second.waiting == 0) groups_.erase(group);
}

bool TurnQueue::Push(const std::string& client, Task task) {
  if (size_ >= size_max_) return false;
  std::list<Task> one;
  one.push_back(std::move(task));
  const auto owner = Add(client);
  Group& group = GroupOf(client);
  if (owner->second.waiting.size() >= size_max_ - size_max_ / 4 ||
      group.waiting >= size_max_ - size_max_ / 8) {
    Tidy(owner);
    return false;
  }
  owner->second.waiting.splice(owner->second.waiting.end(), one);
  if (owner->second.waiting.size() == 1) owner->second.turn = ++turns_;
  if (++group.waiting == 1) group.turn = ++turns_;
  ++size_;
  return true;
}

const std::string* TurnQueue::Next(Among among) const {
  auto next = clients_.end();
  std::pair<std::uint64_t, std::uint64_t> next_turn;
  for (auto it = clients_.begin(); it != clients_.end(); ++it) {
    if (it->second.waiting.empty() || !IsAmong(it->first, among)) continue;
    const std::pair turn(groups_.find(GroupName(it->first))->second.turn, it->second.turn);
    if (next != clients_.end() && turn >= next_turn) continue;
    next = it;
    next_turn = turn;
  }
  return next == clients_.end() ? nullptr : &next->first;
}

TurnQueue::Turn TurnQueue::Pop(Among among) {
  const std::string* const next = Next(among);
  if (next == nullptr) return {};
  Client& owner = clients_.find(*next)->second;
  Group& group = GroupOf(*next);
  Turn turn{next, std::move(owner.waiting.front())};
  owner.waiting.pop_front();
  owner.turn = group.turn = ++turns_;
  ++owner.running;
  ++group.running;
  --group.waiting;
  --size_;
  return turn;
}

const std::string* TurnQueue::Start(const std::string& client) {
  const auto owner = Add(client);
  ++owner->second.running;
  ++GroupOf(client).running;
  return &owner->first;
}

void TurnQueue::Finish(const std::string& client) noexcept {
  const auto owner = clients_.find(client);
  --owner->second.running;
  --GroupOf(client).running;
  Tidy(owner);
}

std::list<TurnQueue::Task> TurnQueue::TakeWaiting() noexcept {
  std::list<Task> tasks;
  for (auto it = clients_.begin(); it != clients_.end();) {
    const auto client = it++;
    GroupOf(client->first).waiting -= client->second.waiting.size();
    tasks.splice(tasks.end(), client->second.waiting);
    Tidy(client);
  }
  size_ = 0;
  return tasks;
}

bool TurnQueue::IsAmong(const std::string& client, Among among) const {
  if (among == Among::kAll) return true;
  if (among == Among::kIdleGroups) {
    const auto group = groups_.find(GroupName(client));
    return group == groups_.end() || group->second.running == 0;
  }
  const auto known = clients_.find(client);
  return known == clients_.end() || known->second.running == 0;
}

}  // namespace jarvis::rpc
