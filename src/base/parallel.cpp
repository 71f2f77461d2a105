#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace jarvis {

int DefaultThreads() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
}

void ParallelFor(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  if (threads <= 0) threads = DefaultThreads();
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++)
        work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::size_t helpers =
      std::min(count, static_cast<std::size_t>(threads)) - (count == 0 ? 0 : 1);
  std::vector<std::jthread> pool;
  pool.reserve(helpers);
  for (std::size_t i = 0; i < helpers; ++i)
    pool.emplace_back(run);
  run();
  pool.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace jarvis
