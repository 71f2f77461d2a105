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
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

bool WorkerPool::Submit(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= queue_max_) return false;
    const bool needs_thread = idle_ <= queue_.size() && threads_.size() < threads_max_;
    if (needs_thread && !StartThread() && threads_.empty()) return false;
    queue_.push_back(std::move(task));
  }
  wake_.notify_one();
  return true;
}

bool WorkerPool::WaitIdle(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return done_.wait_for(lock, patience,
                        [this] { return queue_.empty() && idle_ == threads_.size(); });
}

bool WorkerPool::StartThread() {
  try {
    threads_.emplace_back([this] { Work(); });
    return true;
  } catch (const std::system_error&) {  // no more threads to be had
    return false;
  }
}

void WorkerPool::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    done_.notify_all();
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (stopping_) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what the task owns goes before the next wait
    lock.lock();
  }
}

}  // namespace jarvis::rpc
