// What loading a trace costs: time and peak memory of a fresh process.
#pragma once

#include <cstdint>
#include <string>

#include "bench/floor.h"

namespace jarvis::bench {

struct Load {
  Pass read;                    // bytes to events; of the fastest run
  Pass reopened;                // the same, as it was kept by an earlier process
  Pass total;                   // the whole of load_trace: events, tree, attribution, timeline
  double read_cpu_seconds = 0;  // of all threads
  std::int64_t peak_bytes = 0;  // resident, of the process
  std::int64_t events = 0;      // elements of traceEvents
};

// The best of `runs` loads, each in a process of its own. Throws std::runtime_error on failure.
Load MeasureLoad(const std::string& path, int runs);
// Processor time of reading by one thread that finds its memory touched by reads before: what the
// system takes to make new memory is no part of it. Throws likewise.
double WarmReadSeconds(const std::string& path);

}  // namespace jarvis::bench
