// A bounded number of threads for a bounded queue of tasks. Threads start when they are needed, so
// an idle pool costs nothing.
//
// A task goes straight to the thread that became idle last: its memory is still in the caches, and
// with a condition variable for each thread the one who submits never waits for a thread that was
// woken before, which with a shared one it does.
//
// Clients take turns. Some threads beyond the maximum are kept for clients of whom nothing runs,
// and as many again for groups of clients of whom nothing runs (TurnQueue), so that one with many
// long tasks makes nobody wait for one of them to end, as many clients of one group do not.
//
// Threads: Submit() may be called from any thread, also from a task.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rpc/turn_queue.h"

namespace jarvis::rpc {

class WorkerPool {
 public:
  using Task = TurnQueue::Task;

  WorkerPool(std::size_t threads_max, std::size_t queue_max)
      : threads_max_(threads_max), spare_max_((threads_max + 1) / 2), queue_(queue_max) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Waits for the tasks that run; those that still wait are dropped.
  ~WorkerPool();

  struct Submitted {
    enum class Refusal { kNone, kFull, kNoThread };
    Refusal refusal = Refusal::kNone;
    explicit operator bool() const { return refusal == Refusal::kNone; }  // the task was taken
  };
  // Refused where the queue is full, or no thread is to be had. `client`: whose turn it takes.
  [[nodiscard]] Submitted Submit(Task task, const std::string& client = {});
  // Does no task run or wait? Waits for it at most this long.
  bool WaitIdle(std::chrono::milliseconds patience);

 private:
  struct Worker {
    std::thread thread;
    std::condition_variable wake;
    TurnQueue::Turn turn;  // that it was given while it was idle
  };

  void Work(Worker& self);
  // The following REQUIRE: mutex_ held.
  bool StartThread() noexcept;
  std::size_t threads_all() const { return threads_max_ + 2 * spare_max_; }
  // Whose task may run now. REQUIRES: not all threads are busy.
  TurnQueue::Among Runnable() const;
  bool MayRun(const std::string& client) const;
  TurnQueue::Turn NextTurn();
  // Gives what may run by now to threads that wait, or to a further one.
  void Spread();

  const std::size_t threads_max_;
  const std::size_t spare_max_;
  std::mutex mutex_;
  std::condition_variable done_;  // no task runs or waits
  TurnQueue queue_;
  std::list<Worker> workers_;
  std::vector<Worker*> idle_;  // the one that waits longest first; has room for all
  std::size_t busy_ = 0;       // workers that have a task
  bool stopping_ = false;
};

}  // namespace jarvis::rpc
