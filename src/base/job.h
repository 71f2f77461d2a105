// What a long call is handed: whether to stop, and where to say how far it is.
//
// Threads: Stop() and stopped() may be called from any thread. Report() is called by the one
// thread that runs the call; the callback runs on that thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace jarvis {

class Job {
 public:
  // done and total in units of the caller's choice (bytes, events, ranks); total 0: not known.
  using Progress =
      std::function<void(std::uint64_t done, std::uint64_t total, std::string_view what)>;

  Job() = default;
  explicit Job(Progress progress) : progress_(std::move(progress)) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void Stop() { stop_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  // The error that a stopped call returns.
  Status Check() const {
    if (stopped()) return Fail(ErrorCode::kCancelled, "cancelled by the caller");
    return {};
  }

  // Whoever called asks again by itself until there is a result, as with a task: an early answer
  // that says "not yet" is of no use. To be set before the call starts.
  void set_patient() { patient_ = true; }
  bool patient() const { return patient_; }

  // At most one report every 100 ms reaches the callback.
  void Report(std::uint64_t done, std::uint64_t total, std::string_view what) {
    if (!progress_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    progress_(done, total, what);
  }

 private:
  std::atomic<bool> stop_{false};
  bool patient_ = false;
  Progress progress_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace jarvis
