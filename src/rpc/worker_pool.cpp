#include "rpc/worker_pool.h"

#include <system_error>
#include <utility>

namespace jarvis::rpc {

WorkerPool::~WorkerPool() {
  std::vector<Task> dropped;  // what they own goes when nobody runs
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped = queue_.TakeWaiting();
    for (Worker* worker : idle_)
      worker->wake.notify_one();
  }
  for (Worker& worker : workers_)
    worker.thread.join();
}

bool WorkerPool::Submit(Task task, const std::string& client) {
  Worker* given = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    const bool may_run = MayRun(client);
    if (may_run && !idle_.empty()) {
      given = idle_.back();
      idle_.pop_back();
      queue_.Start(client);
      ++busy_;
      given->turn = {client, std::move(task)};
    } else {
      if (!queue_.Push(client, std::move(task))) return false;
      const bool needs_thread = workers_.size() < threads_max_ ||
                                (may_run && workers_.size() < threads_max_ + spare_max_);
      if (needs_thread && !StartThread() && workers_.empty()) {
        static_cast<void>(queue_.TakeWaiting());  // nothing else is in it, as nobody works
        return false;
      }
    }
  }
  if (given != nullptr) given->wake.notify_one();
  return true;
}

bool WorkerPool::MayRun(const std::string& client) const {
  if (busy_ < threads_max_) return true;
  return busy_ < threads_max_ + spare_max_ && !queue_.IsRunning(client);
}

TurnQueue::Turn WorkerPool::NextTurn() {
  if (busy_ >= threads_max_ + spare_max_) return {};
  TurnQueue::Turn turn = queue_.Pop(busy_ >= threads_max_);
  if (turn.task) ++busy_;
  return turn;
}

void WorkerPool::Spread() {
  while (!idle_.empty()) {
    TurnQueue::Turn turn = NextTurn();
    if (!turn.task) return;
    Worker* const given = idle_.back();
    idle_.pop_back();
    given->turn = std::move(turn);
    given->wake.notify_one();
  }
  const std::size_t threads_all = threads_max_ + spare_max_;
  const bool more = busy_ < threads_all && workers_.size() < threads_all;
  if (more && queue_.HasTurn(busy_ >= threads_max_)) static_cast<void>(StartThread());
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
    self.turn = NextTurn();
    if (!self.turn.task) {
      idle_.push_back(&self);
      if (idle_.size() == workers_.size()) done_.notify_all();
      self.wake.wait(lock, [&] { return stopping_ || self.turn.task; });
      if (stopping_) return;
    } else {
      // A client of whom nothing runs any more may have had to wait for that.
      Spread();
    }
    lock.unlock();
    self.turn.task();
    self.turn.task = nullptr;  // what the task owns goes before the next wait
    lock.lock();
    --busy_;
    queue_.Finish(self.turn.client);
  }
}

}  // namespace jarvis::rpc
