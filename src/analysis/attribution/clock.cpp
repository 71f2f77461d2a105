#include "analysis/attribution/clock.h"

namespace jarvis::analysis {

template <>
std::vector<Interval<std::int64_t>> IntervalsOf(const EventStore& events,
                                                std::span<const EventIndex> which) {
  std::vector<Interval<std::int64_t>> intervals;
  intervals.reserve(which.size());
  for (const EventIndex e : which)
    intervals.push_back({events[e].ts_ns, events[e].end_ns()});
  return intervals;
}

template <>
std::vector<Interval<double>> IntervalsOf(const EventStore& events,
                                          std::span<const EventIndex> which) {
  std::vector<Interval<double>> intervals;
  intervals.reserve(which.size());
  for (const EventIndex e : which) {
    const double ts = events.ts_us(e);
    intervals.push_back({ts, ts + events.dur_us(e)});
  }
  return intervals;
}

double DurationUs(const EventStore& events, EventIndex e, Clock clock) {
  return clock == Clock::kDoubleMicros ? events.dur_us(e) : trace::MicrosOf(events[e].dur_ns);
}

double BusyUs(const EventStore& events, std::span<const EventIndex> which, Clock clock) {
  if (clock == Clock::kDoubleMicros) return Length(Union(IntervalsOf<double>(events, which)));
  if (which.size() == 1) return trace::MicrosOf(events[which[0]].dur_ns);
  return trace::MicrosOf(Length(Union(IntervalsOf<std::int64_t>(events, which))));
}

}  // namespace jarvis::analysis
