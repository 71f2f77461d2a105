// Which lines of the wall book findings are about, and large ones that none is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/kinds/work_kind.h"
#include "session/name_floors.h"
#include "trace/event_store.h"

namespace jarvis::findings {

struct Analysis;

// Of a line: findings that are about so much of it are about it.
inline constexpr double kCoveredMost = 0.5;

struct UncoveredLine {
  std::optional<ledger::WorkKind> work;  // absent: idle time of all causes of the host
  double ms = 0;                         // wall time, of all units of the base
  std::optional<double> bound_ms;        // that could go at most; absent: not assessed
  // Of it, what its sizes take at the least (ledger::Bound::least_ns); absent: names do not tell.
  std::optional<double> least_ms = {};
  std::optional<double> most_ms = {};  // of the largest sizes that fit; absent: no such end
  bool by_grids = false;               // see ledger::Bound
  std::string op = {};                 // with most of it; empty: none has most
};

// Fills Finding::lines of findings with a way out, and Analysis::covered and uncovered_least_ms by
// those with a size of what they save: advice that nobody can size leaves a line as unknown as it
// was. `floors` null: no platform is known.
void FillLines(const trace::EventStore& events, const session::NameFloors* floors,
               Analysis* analysis);

// Lines that could be shorter by at least limits::kUncoveredShare of the base, or that nobody
// assessed, of which less than half is in findings with a sized way out. The largest first. Pure.
// REQUIRES: FillLines.
std::vector<UncoveredLine> FindUncoveredLines(const Analysis& analysis);

}  // namespace jarvis::findings
