// The points of each thread between which its time is measured: begins and ends of calls, its first
// and last activity, and where it woke or woke another thread.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/simulation/recorded_work.h"

namespace jarvis::analysis {

enum class HostPointKind : std::uint8_t {
  kWake,  // goes on after a wait that no call shows
  kFirst,
  kCallEnd,
  kCallBegin,
  kLast,
  kCause,  // what it did last before another thread went on
};

struct HostPoint {
  double time;
  HostPointKind kind;
  std::uint32_t call;  // kNoPlace unless of a call
};

// A stretch of a thread without any recorded activity.
struct Silence {
  std::uint32_t thread;
  double from;
  double to;
  double length() const { return to - from; }
};

// By thread, in order of time.
using HostPoints = std::vector<std::vector<HostPoint>>;

HostPoints CallPoints(const RecordedWork& recorded);

// What is added to a thread once waits are known.
struct ExtraPoint {
  std::uint32_t thread;
  double time;
  HostPointKind kind;  // kWake or kCause
  friend auto operator<=>(const ExtraPoint&, const ExtraPoint&) = default;
};
// A cause at the time of another point is that point; points at one place are one.
void AddPoints(std::vector<ExtraPoint> extra, HostPoints* points);

// Outside calls that matter; at least `shortest` microseconds; by thread, then time.
std::vector<Silence> FindSilences(const RecordedWork& recorded, const HostPoints& points,
                                  double shortest);

// One thread was silent until another one had done something.
struct HandOver {
  std::uint32_t from_thread;
  double done;      // what it had done last
  Silence silence;  // of the thread that went on then
};

// Between the threads that launch forward work and those that run backward nodes.
std::vector<HandOver> FindHandOvers(const RecordedWork& recorded);

}  // namespace jarvis::analysis
