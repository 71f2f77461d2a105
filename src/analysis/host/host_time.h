// Self time of the host by op, Python frame, runtime call and annotation: time that is inside an
// event and inside none of the events that it encloses.
//
// Counted are the threads that work (main, autograd, loaders, launchers, workers), each moment of
// each thread once. Calls that wait for the GPU and frames that only wait are rows of their own
// kind of time: `waits`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/host/host_threads.h"

namespace jarvis::analysis {

enum class HostRowKind : std::uint8_t { kOp, kFrame, kCall, kRange };

struct HostTimeRow {
  HostRowKind kind;
  std::string name;         // without addresses and instance numbers; frames with file and line
  std::string code;         // the line of user code around it with most of the time; empty: none
  std::uint64_t count = 0;  // events, less those directly inside one of the same name
  std::int64_t self_ns = 0;
  std::int64_t total_ns = 0;        // with all that is inside; what nests in itself counts once
  std::int64_t median_self_ns = 0;  // of events, upper middle
  bool waits = false;               // for the GPU, or a frame that only waits
  std::uint32_t thread = 0;         // with most of the self time; into ThreadTimes::threads
};

struct HostTime {
  // What shares are of: from the first step's begin to the last one's end, or the span of the
  // threads that launch. Only self time in it counts.
  Interval<std::int64_t> base{0, 0};
  std::vector<HostTimeRow> rows;  // of all kinds, the most self time first
};

HostTime MeasureHostTime(const HostInput& input, const ThreadTimes& threads, const Waits& waits,
                         HostNames* names);

}  // namespace jarvis::analysis
