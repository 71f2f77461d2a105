// Large lines of the wall book that no finding is about.
#pragma once

#include <optional>
#include <vector>

#include "ledger/kinds/work_kind.h"
#include "trace/event_store.h"

namespace jarvis::findings {

struct Analysis;

struct UncoveredLine {
  std::optional<ledger::WorkKind> work;  // absent: idle time of all causes of the host
  double ms = 0;                         // wall time, of all units of the base
  std::optional<double> bound_ms;        // that could go at most; absent: not assessed
};

// Lines that could be shorter by at least limits::kUncoveredShare of the base, or that nobody
// assessed, of which less than half is in findings with a way out. The largest first. Pure.
std::vector<UncoveredLine> FindUncoveredLines(const trace::EventStore& events,
                                              const Analysis& analysis);

}  // namespace jarvis::findings
