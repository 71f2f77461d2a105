// Slices of a Perfetto trace: begins and ends put together, track by track.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/perfetto/packets.h"

namespace jarvis::trace::perfetto {

struct Slice {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t track = 0;
  StringId name = kNoString, category = kNoString;
  Annotations annotations;
};

struct Slices {
  std::vector<Slice> slices;  // in the order of their begins in the file
  std::uint64_t instants = 0, counters = 0;
  std::uint64_t open = 0;       // begins without an end: they end with the trace
  std::uint64_t unmatched = 0;  // ends without a begin
};

// Points of a track are taken by time, those of one time in the order of the file; an end closes
// the innermost slice that is open. The tool's own times (begin_ns, end_ns) are a slice's where it
// has them, as its edges may have been moved so that slices nest.
Slices NestSlices(const Packets& packets);

}  // namespace jarvis::trace::perfetto
