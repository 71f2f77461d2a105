// The GPU's idle time of what the user waits for, each moment of it due to one cause: the
// profiler, first calls, a host without CPU, long stretches of host work, a wait that nothing was
// queued behind, or launches that came late, by the phase that launched. Findings about the host
// take their shares from here, so that together they never claim more than there is.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/frames/phases.h"
#include "analysis/host/host_summary.h"
#include "base/interval.h"
#include "findings/one/host_cause.h"
#include "findings/one/idle_sections.h"
#include "findings/one/time_scope.h"
#include "session/loaded_trace.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

// A part of the steps, and how it feeds the GPU.
struct IdlePhase {
  std::string name;  // empty: time that no part has
  analysis::PhaseKind kind = analysis::PhaseKind::kOther;
  IntervalSet<std::int64_t> spans;  // host time within the scope
  std::uint64_t launches = 0;
  std::uint64_t idle_launches = 0;  // that found their stream idle
  std::uint64_t waits = 0;          // that idle time follows
  double launch_us = 0;             // begin to begin, median; 0: fewer than two
  double kernel_us = 0;             // median
  double sync_ms = 0;               // idle time after waits
  double launch_ms = 0;             // idle time before launches that came late
  double lead_ms = 0;               // of it, what waits before it cost the host of its lead
  double early_ms = 0;              // of it, at the start of a step's GPU work
  double early_until_ms = 0;        // when the last of that ends, from the start of this work
  double excused_ms = 0;            // idle time that is the profiler's, first calls' or no CPU's
  IntervalSet<std::int64_t> gaps;   // both
  IntervalSet<std::int64_t> late;   // of them, those of late launches

  // Many waits, and each has a few launches only: no graph would hold them. What this leaves out
  // of late launches is what waits take, so that all of the idle time has one of the two.
  bool waits_often() const;
  // The host is late for what it lost elsewhere: the rest of its idle time is no rate of launching.
  bool mostly_excused() const { return excused_ms > launch_ms + sync_ms; }
  double host_ms() const { return static_cast<double>(Length(spans)) / 1e6; }
};

struct IdleLedger {
  double total_ms = 0;             // without the profiler's, first calls' and the missing CPU's
  std::vector<double> section_ms;  // by group of sections
  // By waiting call: milliseconds of idle time right behind it.
  std::unordered_map<trace::EventIndex, double> waited;
  // By waiting call: before launches that came late after it, at most as long as it took.
  std::unordered_map<trace::EventIndex, double> lead;
  std::vector<IdlePhase> phases;  // by first appearance

  // Before late launches, of all phases.
  IntervalSet<std::int64_t> late() const;
};

struct IdleInput {
  const session::LoadedTrace& trace;
  const analysis::HostSummary& host;
  const session::TraceFrames& frames;
  const TimeScope& scope;
  const std::vector<const SectionGroup*>& sections;  // that are findings of their own
  const IntervalSet<std::int64_t>& not_idle;         // as sections were found with it
  IntervalSet<std::int64_t> excused;                 // profiler, first calls, no CPU: host time
};

IdleLedger MakeIdleLedger(const IdleInput& input);

// A phase as a place where the host is late for the GPU.
HostPlace PlaceOf(const IdlePhase& phase);

}  // namespace jarvis::findings
