#include "trace/event_store.h"

namespace jarvis::trace {

const Args EventStore::kNone{};

double MicrosOf(std::int64_t ns) {
  constexpr std::int64_t kExactDouble = std::int64_t{1} << 53;
  if (ns > -kExactDouble && ns < kExactDouble) return static_cast<double>(ns) / 1000.0;
  if (ns % 1000 == 0) return static_cast<double>(ns / 1000);
  return static_cast<double>(static_cast<long double>(ns) / 1000.0L);
}

double EventStore::ts_us(EventIndex e) const {
  if ((events[e].flags & kInexact) != 0) return exact_times.at(events[e].uid).ts_us;
  return MicrosOf(events[e].ts_ns);
}

double EventStore::dur_us(EventIndex e) const {
  if ((events[e].flags & kInexact) != 0) return exact_times.at(events[e].uid).dur_us;
  return MicrosOf(recorded_duration_ns(e));
}

std::int64_t EventStore::recorded_duration_ns(EventIndex e) const {
  if ((events[e].flags & kClipped) != 0) return clipped_from.at(events[e].uid);
  return events[e].dur_ns;
}

std::size_t EventStore::MemoryBytes() const {
  return strings.bytes() + events.bytes() + args.bytes() + flows.bytes() +
         tracks.size() * sizeof(Track) + meta_events.size() * sizeof(MetaEvent) +
         exact_times.size() * 48 + clipped_from.size() * 32;
}

}  // namespace jarvis::trace
