#include "rpc/timer.h"

#include <exception>
#include <utility>

#include "rpc/log.h"

namespace jarvis::rpc {

using std::chrono::steady_clock;

Timer::~Timer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Timer::After(std::chrono::milliseconds delay, std::function<void()> action) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
    due_.emplace(steady_clock::now() + delay, std::move(action));
  } catch (const std::exception&) {
    return false;
  }
  changed_.notify_all();
  return true;
}

void Timer::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (due_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = due_.begin();
    if (const auto when = first->first; steady_clock::now() < when) {
      changed_.wait_until(lock, when);
      continue;
    }
    auto action = std::move(first->second);
    due_.erase(first);
    lock.unlock();
    try {
      action();
    } catch (const std::exception& exception) {  // the other actions must not suffer
      LogWarning("a timed action failed: ", exception.what());
    }
    action = nullptr;  // what it holds may come here again when it goes
    lock.lock();
  }
}

}  // namespace jarvis::rpc
