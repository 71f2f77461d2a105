#include "rpc/worker_pool.h"

#include <exception>
#include <utility>

namespace jarvis::rpc {

WorkerPool::~WorkerPool() {
  std::list<Task> dropped;  // what they own goes when nobody runs
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

WorkerPool::Submitted WorkerPool::Submit(Task task, const std::string& client) {
  using Refusal = Submitted::Refusal;
  Worker* given = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return {Refusal::kFull};
    const bool may_run = MayRun(client);
    if (may_run && !idle_.empty()) {
      const std::string* const known = queue_.Start(client);
      given = idle_.back();
      idle_.pop_back();
      ++busy_;
      given->turn = {known, std::move(task)};
    } else {
      const bool needs_thread =
          workers_.size() < threads_max_ || (may_run && workers_.size() < threads_all());
      // One that there is will come to it.
      if (needs_thread && !StartThread() && workers_.empty()) return {Refusal::kNoThread};
      if (!queue_.Push(client, std::move(task))) return {Refusal::kFull};
    }
  }
  if (given != nullptr) given->wake.notify_one();
  return {};
}

TurnQueue::Among WorkerPool::Runnable() const {
  if (busy_ < threads_max_) return TurnQueue::Among::kAll;
  return busy_ < threads_max_ + spare_max_ ? TurnQueue::Among::kIdleClients
                                           : TurnQueue::Among::kIdleGroups;
}

bool WorkerPool::MayRun(const std::string& client) const {
  return busy_ < threads_all() && queue_.IsAmong(client, Runnable());
}

TurnQueue::Turn WorkerPool::NextTurn() {
  if (busy_ >= threads_all()) return {};
  TurnQueue::Turn turn = queue_.Pop(Runnable());
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
  const bool more = busy_ < threads_all() && workers_.size() < threads_all();
  if (more && queue_.HasTurn(Runnable())) static_cast<void>(StartThread());
}

bool WorkerPool::WaitIdle(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return done_.wait_for(lock, patience,
                        [this] { return queue_.empty() && idle_.size() == workers_.size(); });
}

bool WorkerPool::StartThread() noexcept {
  std::list<Worker> one;
  try {
    idle_.reserve(workers_.size() + 1);
    Worker& worker = one.emplace_back();
    worker.thread = std::thread([this, &worker] { Work(worker); });
  } catch (const std::exception&) {  // no more threads or memory to be had
    return false;
  }
  workers_.splice(workers_.end(), one);
  return true;
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
    queue_.Finish(*self.turn.client);
  }
}

}  // namespace jarvis::rpc
