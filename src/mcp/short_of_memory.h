// What has to come to its end although there is no memory for it at the moment: an answer that a
// client waits for.
#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace jarvis::mcp {

// Runs `task` again and again, for about half a second, until it no longer runs out of memory:
// other calls end meanwhile and give back theirs. False: it never did.
template <typename Task>
[[nodiscard]] bool TryForAWhile(const Task& task) {
  constexpr int kAttempts = 25;
  constexpr std::chrono::milliseconds kPause(20);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kPause);
    try {
      task();
      return true;
    } catch (const std::bad_alloc&) {  // not yet
    }
  }
  return false;
}

}  // namespace jarvis::mcp
