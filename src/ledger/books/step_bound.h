// What bounds the unit that the user waits for. One rule over the books, whoever asks: reports,
// tools, comparisons.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ledger/books/books.h"

namespace jarvis::ledger {

enum class BoundKind : std::uint8_t {
  kUnknown,
  kCommunication,  // collectives that nothing hides: waiting for other ranks, or transfer
  kCopies,         // copies between host and device that nothing hides
  kBalanced,       // host and GPU both take nearly all of the time
  kHost,
  kGpu,
  kInTurns,  // neither: they wait for each other
};
// "host-bound", "GPU-bound", "bound by communication", "bound by copies between host and device",
// "balanced", "in turns"; "unknown".
std::string_view BoundKindText(BoundKind kind);

struct StepBound {
  BoundKind kind = BoundKind::kUnknown;
  // Percent of the base, without what the profiler cost.
  double communication = 0;  // exposed
  double gpu = 0;            // busy
  double host = 0;           // the host alone: its own work without its waits
  double idle_host = 0;      // the GPU has nothing to do because of the host
  // The host's work at least: `host`, or where ops or frames are recorded what the GPU waits for
  // between them; without these nobody knows what the host does outside of calls. What a call takes
  // to return after the GPU is done is no work.
  double host_work = 0;
  double not_scheduled = 0;  // ... which was not running, or blocked
  std::string because;       // a phrase with these figures; empty if unknown
};

// `profiler_ns`: how long frames of the profiler held the host up in the base.
StepBound BoundOf(const analysis::BaseOfTime& base, const Books& books,
                  std::int64_t profiler_ns = 0);

}  // namespace jarvis::ledger
