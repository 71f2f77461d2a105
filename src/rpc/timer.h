// Things to do later. One thread, started with the first of them.
//
// Threads: After() from any. What is to be done is short and does not throw.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace jarvis::rpc {

class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  // What has not been done yet is dropped.
  ~Timer();

  // False: there is no memory or no thread for it, and it will not be done.
  [[nodiscard]] bool After(std::chrono::milliseconds delay, std::function<void()> action) noexcept;

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> due_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace jarvis::rpc
