// Long stretches in which the GPU has nothing to do, and what the host does in them: preprocessing,
// loading, plain Python between batches. Stretches of the same work are one.
//
// Method: the time from the first to the last activity less GPU work and less what is known to have
// been GPU work that was not recorded. Stretches of 0.5 ms or more count, of the same work as one
// of at least 0.2 % of it: a series is not cut where its members grow shorter. Where a loader, or a
// tokenizer in Python, takes a part and something else at least a tenth, they are two. Self time in
// them is time inside an event and inside none of those it encloses, on the threads that launch and
// on loaders; in annotations alone it is nobody's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host/host_summary.h"
#include "base/interval.h"
#include "findings/one/growing_rounds.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

struct SectionWork {
  std::string name;  // Python frame with file and line, op, call, annotation; without an address
  std::uint64_t count = 0;
  double ms = 0;  // self time in the group's stretches
};

struct SectionGroup {
  std::string before;      // the op whose GPU work ended before; empty: nothing had run
  std::string after;       // the op whose GPU work came next; empty: none came
  bool scattered = false;  // not all lie between the same two: both are of one of them
  bool at_end = false;     // one of them comes after all GPU work
  IntervalSet<std::int64_t> stretches;  // by start
  double total_ms = 0;
  double median_ms = 0;
  double shortest_ms = 0;
  double longest_ms = 0;
  std::optional<double> period_ms;  // median from begin to begin; absent: they are not even
  bool loading = false;             // most of it is inside the loader's annotations or code
  std::vector<SectionWork> work;    // the most time first, at most kSectionWorkMax
  bool after_copy_back = false;     // most follow a copy to the host
  bool before_copy_in = false;      // most end with a copy from the host
  std::string within;  // the innermost Python function that holds each; empty: none holds just it
  // One generator makes what each needs: the first in its call, the others as it is resumed.
  bool generated = false;
  double nothing_ms = 0;   // no event was recorded on these threads
  double profiler_ms = 0;  // inside the profiler's own functions
  bool sleeps = false;     // equally long stretches of a round length, with nothing recorded
  double waiting_ms = 0;   // inside calls that wait for the GPU, as they return
  double dispatch_ms = 0;  // inside a module's call or an op that launches GPU work
  std::optional<GrowingRounds> growth;  // later ones are longer; absent: they are not
};
inline constexpr std::size_t kSectionWorkMax = 4;

// "<built-in method astype of numpy.ndarray object at 0x7f12>" without what only its process knew.
std::string WithoutAddress(std::string_view name);

struct IdleSections {
  double span_ms = 0;                  // first to last activity
  double total_ms = 0;                 // of all that are long enough
  std::vector<SectionGroup> groups;    // the most time first
  IntervalSet<std::int64_t> not_idle;  // as it was given
};

// `not_idle`: when the GPU was busy with what is not recorded, and what is no part of the steps.
// `host`: of this trace.
IdleSections FindIdleSections(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                              const IntervalSet<std::int64_t>& not_idle);

}  // namespace jarvis::findings
