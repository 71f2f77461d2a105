// A bounded number of threads for a bounded queue of tasks. Threads start when they are needed, so
// an idle pool costs nothing.
//
// Threads: Submit() may be called from any thread, also from a task.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace jarvis::rpc {

class WorkerPool {
 public:
  using Task = std::function<void()>;  // does not throw

  WorkerPool(std::size_t threads_max, std::size_t queue_max)
      : threads_max_(threads_max), queue_max_(queue_max) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Waits for the tasks that run; those that still wait are dropped.
  ~WorkerPool();

  // False: the queue is full and the task was not taken.
  [[nodiscard]] bool Submit(Task task);
  // Does no task run or wait? Waits for it at most this long.
  bool WaitIdle(std::chrono::milliseconds patience);

 private:
  void Work();
  bool StartThread();  // REQUIRES: mutex_ held

  const std::size_t threads_max_;
  const std::size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;  // a thread waits for a task
  std::deque<Task> queue_;
  std::size_t idle_ = 0;  // threads that wait for a task
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace jarvis::rpc
