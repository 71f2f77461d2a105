#include "rpc/worker_pool.h"

#include <system_error>
#include <utility>

namespace jarvis::rpc {

WorkerPool::~WorkerPool() {
  std::deque<Task> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
    for (Worker* worker : idle_)
      worker->wake.notify_one();
  }
  for (Worker& worker : workers_)
    worker.thread.join();
}

bool WorkerPool::Submit(Task task) {
  Worker* given = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    if (!idle_.empty()) {
      given = idle_.back();
      idle_.pop_back();
      given->task = std::move(task);
    } else {
      if (queue_.size() >= queue_max_) return false;
      const bool needs_thread = workers_.size() < threads_max_;
      if (needs_thread && !StartThread() && workers_.empty()) return false;
      queue_.push_back(std::move(task));
    }
  }
  if (given != nullptr) given->wake.notify_one();
  return true;
}

bool WorkerPool::WaitIdle(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return done_.wait_for(lock, patience,
                        [this] { return queue_.empty() && idle_.size() == workers_.size(); });
}

bool WorkerPool::StartThread() {
  Worker& worker = workers_.emplace_back();
  try {
    worker.thread = std::thread([this, &worker] { Work(worker); });
    return true;
  } catch (const std::system_error&) {  // no more threads to be had
    workers_.pop_back();
    return false;
  }
}

void WorkerPool::Work(Worker& self) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty()) {
      idle_.push_back(&self);
      if (idle_.size() == workers_.size()) done_.notify_all();
      self.wake.wait(lock, [&] { return stopping_ || self.task; });
      if (stopping_) return;
    } else {
      self.task = std::move(queue_.front());
      queue_.pop_front();
    }
    lock.unlock();
    self.task();
    self.task = nullptr;  // what the task owns goes before the next wait
    lock.lock();
  }
}

}  // namespace jarvis::rpc
