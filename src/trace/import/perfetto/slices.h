// Slices of a Perfetto trace: begins and ends put together, track by track.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/perfetto/packets.h"

namespace jarvis::trace::perfetto {

struct Slice {
  std::int64_t begin_ns = 0, end_ns = 0, correlation = kAbsent;
  std::uint32_t track = 0;  // a place in Packets::tracks_of_points
  StringId name = kNoString, category = kNoString;
  std::uint32_t kind = kNoArgs;  // of its annotations: see Slices::KindOf()
};

struct Slices {
  Column<Slice> slices;             // in the order of their begins in the file
  std::vector<Annotations> joined;  // of slices whose ends say something, too
  std::uint64_t instants = 0, counters = 0;
  std::uint64_t open = 0;       // begins without an end: they end with the trace
  std::uint64_t unmatched = 0;  // ends without a begin

  // What a slice's annotations say that it shares with others: all but times and correlation.
  const Annotations& KindOf(const Slice& slice, const Packets& packets) const;
};

// Points of a track are taken by time, those of one time in the order of the file; an end closes
// the innermost slice that is open. The tool's own times (begin_ns, end_ns) are a slice's where it
// has them, as its edges may have been moved so that slices nest.
Slices NestSlices(const Packets& packets);

}  // namespace jarvis::trace::perfetto
