#include "mcp/changes.h"

#include <algorithm>

namespace jarvis::mcp {

void Changes::Add(const std::shared_ptr<ChangeListener>& listener) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [&](const std::weak_ptr<ChangeListener>& known) {
    const auto alive = known.lock();
    return !alive || alive == listener;
  });
  listeners_.push_back(listener);
}

void Changes::Announce(const Change& change) {
  std::vector<std::shared_ptr<ChangeListener>> alive;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& known : listeners_) {
      if (auto listener = known.lock()) alive.push_back(std::move(listener));
    }
  }
  for (const auto& listener : alive)
    listener->OnChange(change);
}

}  // namespace jarvis::mcp
