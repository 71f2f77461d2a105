// A bounded number of threads for a bounded queue of tasks. Threads start when they are needed, so
// an idle pool costs nothing.
//
// A task goes straight to the thread that became idle last: its memory is still in the caches, and
// with a condition variable for each thread the one who submits never waits for a thread that was
// woken before, which with a shared one it does.
//
// Threads: Submit() may be called from any thread, also from a task.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
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
  struct Worker {
    std::thread thread;
    std::condition_variable wake;
    Task task;  // that it was given while it was idle
  };

  void Work(Worker& self);
  bool StartThread();  // REQUIRES: mutex_ held

  const std::size_t threads_max_;
  const std::size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable done_;  // no task runs or waits
  std::deque<Task> queue_;        // only while no worker is idle
  std::list<Worker> workers_;
  std::vector<Worker*> idle_;  // the one that waits longest first
  bool stopping_ = false;
};

}  // namespace jarvis::rpc
