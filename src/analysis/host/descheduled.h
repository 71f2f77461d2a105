// A host that was not running: pieces of time missing inside calls that normally take microseconds,
// in calls of many names, without a wait for the GPU that explains them. No op is slow then; the
// process had no CPU.
//
// A piece is a silent stretch of at least 0.1 ms inside an op, a Python frame or a runtime call
// that does not wait, whose name usually takes less than a thirtieth of it and is long in few calls
// only, while no other thread of the process records anything (a thread that waits for the
// interpreter's lock looks the same otherwise). Pieces are evidence if there are at least
// eight in ops and runtime calls of at least five names, no name with most of them. Then stretches
// count, too, that are thirty times as long as is usual at their place (silent_places.h) and seldom
// so, and silent stretches between calls, both as far as they are about as long as what is seen
// inside calls. An op that computes on the CPU is as long as its data are large: its pieces are
// none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/host/first_calls.h"
#include "analysis/host/host_pieces.h"

namespace jarvis::analysis {

// The scheduler's clock: instants that pieces begin or end at, modulo its period. Ranks on one
// machine have the same.
struct SchedulerTick {
  double period_ms = 0;
  double phase_ms = 0;  // of the trace's clock
  // Begins and ends that lie within 0.1 ms of each other modulo the period, of how many; those that
  // chance would put there.
  std::uint64_t count = 0, instants = 0;
  double by_chance = 0;
};

struct Descheduled {
  std::vector<SilentPiece> pieces;      // by begin; empty: nothing of the kind
  std::uint64_t names = 0;              // of calls that pieces are in
  IntervalSet<std::int64_t> intervals;  // of all threads as a set
  // Pieces as unusual as these in ops that compute on the CPU, whose data may be as large: of the
  // host or of its work.
  IntervalSet<std::int64_t> unsure;
  double total_ms = 0;       // length of the set
  double share_percent = 0;  // of the time from the first to the last host event
  double shortest_ms = 0;
  double longest_ms = 0;
  std::optional<SchedulerTick> tick;  // absent: instants are where chance would have them
};

// `pieces`: of at least kDescheduledMinNs or shorter. What `first_calls` has is left out; but
// launches and ops in it that took over a millisecond are moved from there to here where pieces of
// a host that did not run are twice as many: then chance made them long. Pure.
inline constexpr std::int64_t kDescheduledMinNs = 100'000;
Descheduled FindDescheduled(const trace::EventStore& events, const tree::CallTree& tree,
                            const HostPieces& pieces, FirstCalls* first_calls);

}  // namespace jarvis::analysis
