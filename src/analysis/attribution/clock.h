// The two arithmetics in which time is added up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interval.h"
#include "trace/event_store.h"

namespace jarvis::analysis {

using trace::EventIndex;
using trace::EventStore;
using trace::kNoEvent;

enum class Clock : std::uint8_t {
  kNanoseconds,   // exact integers; repaired durations
  kDoubleMicros,  // doubles, end = ts + dur, durations as recorded: what Python programs compute
};

// Duration of one event, in microseconds.
double DurationUs(const EventStore& events, EventIndex e, Clock clock);

// Length of the union of the events' intervals, in microseconds: the busy time.
double BusyUs(const EventStore& events, std::span<const EventIndex> which, Clock clock);

template <typename T>
std::vector<Interval<T>> IntervalsOf(const EventStore& events, std::span<const EventIndex> which);

}  // namespace jarvis::analysis
