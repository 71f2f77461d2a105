#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
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
  try {
    for (std::size_t i = 0; i < helpers; ++i)
      pool.emplace_back(run);
  } catch (const std::exception&) {  // no more threads or memory: those there are do it
  }
  run();
  pool.clear();
  if (failure) std::rethrow_exception(failure);
}

void RunBeside(const std::function<void()>& own, const std::function<void()>& other) {
  std::exception_ptr failure;
  std::jthread beside;  // joined also if `own` throws
  const auto run = [&] {
    try {
      other();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  bool started = false;
  try {
    beside = std::jthread(run);
    started = true;
  } catch (const std::exception&) {  // no thread or memory for it: then one after the other
  }
  own();
  if (started)
    beside.join();
  else
    run();
  if (failure) std::rethrow_exception(failure);
}

Status ParallelJob(std::size_t count, int threads, std::string_view what, Job& job,
                   const std::function<void(std::size_t, Job&)>& piece) {
  constexpr std::chrono::milliseconds kLookEvery(20);
  Job inner;  // without progress: several threads share it
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::atomic<std::size_t> done = 0;
  std::exception_ptr thrown;
  const auto run = [&] {
    try {
      ParallelFor(count, threads, [&](std::size_t i) {
        if (!inner.stopped()) piece(i, inner);
        ++done;
      });
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  };
  std::jthread runner;  // joined also if passing on the progress throws
  try {
    runner = std::jthread(run);
  } catch (const std::exception&) {  // no thread for it: then without progress
    run();
  }
  {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, kLookEvery, [&] { return ended; })) {
      job.Report(done.load(), count, what);
      if (job.stopped()) inner.Stop();
    }
  }
  if (runner.joinable()) runner.join();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return job.Check();
}

}  // namespace jarvis
