// A machine that runs a program in a test and records it, and what the tests ask of the simulation.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/simulation/simulation.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

// What a machine does, in microseconds.
inline constexpr double kCall = 4;     // a call that does not wait
inline constexpr double kLatency = 8;  // from the begin of a launch to the start of its work
inline constexpr double kGap = 1;      // between works of a stream
inline constexpr double kReturnLag =
    8;  // from the end of the awaited work to the return of the call
inline constexpr double kEventLag =
    3;  // from the end of the awaited work to the start on another stream
inline constexpr int kMain = 100;
inline constexpr int kBackward = 101;

// Runs a program as a machine would and records it. Host work is one op every 40 us, so that the
// host is never silent unless it waits.
class Machine {
 public:
  Machine& On(int thread) {
    thread_ = thread;
    text_.Thread(100, thread);
    return *this;
  }
  Machine& Host(double us, const char* op = "aten::op") {
    for (double left = us; left > 0; left -= 40) {
      const double piece = std::min(left, 40.0);
      text_.Op(op, now(), piece);
      now() += piece;
    }
    return *this;
  }
  Machine& Launch(const std::string& name, double us, int stream = 7) {
    const double begin = now();
    const double start = std::max({begin + kLatency, free_[stream], event_[stream]});
    double end = begin + kCall;
    starts_.push_back(start);
    if (starts_.size() > queue) end = std::max(end, starts_[starts_.size() - 1 - queue] + 4);
    if (starts_.size() > recorded_after)
      text_.Runtime("cudaLaunchKernel", begin, end - begin, correlation_ + 1);
    ++correlation_;
    text_.Kernel(name, start, us, correlation_, stream);
    free_[stream] = start + us + kGap;
    event_[stream] = 0;
    now() = end;
    return *this;
  }
  Machine& Upload(double us) {
    const double begin = now();
    const double start = std::max(begin + kLatency, free_[7]);
    text_.Runtime("cudaMemcpyAsync", begin, start + us + kReturnLag - begin, ++correlation_);
    text_.Memcpy("Memcpy HtoD (Pageable -> Device)", start, us, correlation_);
    free_[7] = start + us + kGap;
    now() = start + us + kReturnLag;
    return *this;
  }
  Machine& Sync() {
    const double begin = now();
    const double end = std::max(begin + kCall, EndOfAll() + kReturnLag);
    text_.Runtime("cudaDeviceSynchronize", begin, end - begin, ++correlation_);
    now() = end;
    return *this;
  }
  // Waits as Sync does, but no call shows it.
  Machine& WaitUnseen() {
    now() = std::max(now(), EndOfAll() + kReturnLag);
    return *this;
  }
  // `stream` waits for what is on `other` by now.
  Machine& StreamWait(int stream, int other) {
    text_.Runtime("cudaStreamWaitEvent", now(), 2, ++correlation_);
    event_[stream] = free_[other] - kGap + kEventLag;
    now() += 2;
    return *this;
  }
  Machine& HandOver(int to) {
    const double done = now();
    On(to);
    now() = std::max(now(), done + 60);
    return *this;
  }
  Loaded Recorded() const { return Load(text_); }
  double Wall() const {
    double wall = EndOfAll();
    for (const auto& [thread, time] : now_)
      wall = std::max(wall, time);
    return wall;
  }

  std::size_t queue = std::numeric_limits<std::size_t>::max();  // launches that fit
  std::size_t recorded_after = 0;  // so many launches were made before the recording

 private:
  double& now() { return now_[thread_]; }
  double EndOfAll() const {
    double end = 0;
    for (const auto& [stream, free] : free_)
      end = std::max(end, free - kGap);
    return end;
  }

  TraceText text_;
  int thread_ = kMain;
  std::map<int, double> now_;
  std::map<int, double> free_;   // when a stream can start the next work
  std::map<int, double> event_;  // when what a stream was told to wait for lets it
  std::vector<double> starts_;
  std::int64_t correlation_ = 0;
};

inline Simulation SimulationOf(const Loaded& loaded) {
  Job job;
  auto simulation = Simulation::Make(loaded.events(), loaded.tree, job);
  REQUIRE(simulation.has_value());
  return std::move(*simulation);
}

inline std::vector<trace::EventIndex> GpuWorkNamed(const Loaded& loaded, std::string_view name) {
  std::vector<trace::EventIndex> found;
  for (trace::EventIndex e = 0; e < loaded.events().size(); ++e) {
    if (trace::IsGpuWork(loaded.events()[e].kind) && loaded.events().name(e) == name)
      found.push_back(e);
  }
  return found;
}

inline Change Scaled(const Loaded& loaded, std::string_view name, double factor) {
  return ScaleGpu{GpuWorkNamed(loaded, name), {factor}};
}
inline Change HostScaled(double factor) {
  return ScaleHost{{{kAllTracks, 0, 1'000'000'000'000}}, factor, false};
}

inline double SavedMs(const Simulation& simulation, Change change) {
  const std::vector<Change> changes = {std::move(change)};
  const Outcome outcome = simulation.WhatIf(changes);
  CHECK(outcome.low_ms <= outcome.saved_ms);
  CHECK(outcome.saved_ms <= outcome.high_ms);
  CHECK(outcome.before_ms - outcome.after_ms == doctest::Approx(outcome.saved_ms));
  return outcome.saved_ms;
}

}  // namespace jarvis::analysis
