// What the host did that made the GPU wait: facts of one finding.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/simulation/change.h"

namespace jarvis::findings {

enum class HostCauseKind : std::uint8_t {
  kSection,      // long stretches between the same GPU work: preprocessing, loading, plain Python
  kWaits,        // calls that wait for the GPU, one after the other
  kLaunchBound,  // launching takes longer than the work that is launched
  kReplayGap,    // what comes before and between replays of a graph
  kOptimizer,    // parameter by parameter: gradients cleared, weights updated
  kFirstCalls,   // code loaded, memory taken, libraries set up: once
  kDescheduled,  // the process had no CPU
  kStop,         // what its rule says, see stop_findings.h
};

// What a waiting call waits to learn.
enum class WaitKind : std::uint8_t {
  kOther,     // it only waits
  kScalar,    // a value that Python asks for
  kShape,     // how many elements there are
  kReadBack,  // results that are copied to the host
  kUpload,    // that what it copies to the device has been read
  kCheck,     // whether values are as they should be (NaN, allclose)
  kBranch,    // a value that compiled code branches on, so that it is compiled in parts
  kExchange,  // how much an exchange with other ranks sends and receives
  kAsked,     // a call that does nothing but wait, in no op: the program asks for it
};
// Of a value or a count for Python, which the host needs to go on.
inline bool FetchesValue(WaitKind kind) {
  return kind == WaitKind::kScalar || kind == WaitKind::kShape || kind == WaitKind::kCheck ||
         kind == WaitKind::kBranch || kind == WaitKind::kExchange;
}

// Something that the host did, a place that waits, or a phase that launches.
struct HostPlace {
  std::string name;       // frame with file and line, op, runtime call
  std::string code;       // line of user code; empty: none recorded
  std::string waits_for;  // of waits: the kernel with most of the time; empty: not of waits
  std::uint64_t count = 0;
  double ms = 0;
  double idle_ms = 0;    // of the GPU, because of it
  double launch_us = 0;  // of a phase: launch to launch, median; 0: no phase
  double kernel_us = 0;  // of a phase: median kernel
  WaitKind wait = WaitKind::kOther;
  std::string check = {};  // of kCheck: the op that all of them are part of; empty: several
};

struct HostCause {
  HostCauseKind kind = HostCauseKind::kSection;
  std::uint64_t count = 0;  // stretches, waits, launches, calls, pieces
  double total_ms = 0;      // host time
  double each_ms = 0;       // median
  double shortest_ms = 0;   // of a section's stretches
  double longest_ms = 0;
  bool alike() const { return longest_ms <= 1.25 * shortest_ms; }
  std::optional<double> period_ms;
  std::string before;      // of a section: the op whose work ended before; may be empty
  std::string after;       // the op whose work came next; may be empty
  bool scattered = false;  // of a section: its stretches lie between other ops, too
  bool at_end = false;     // ... one of them comes after all GPU work
  bool loading = false;    // of a section: inside a data loader
  bool generated = false;  // of a section: one generator makes what each stretch needs
  bool late = false;       // of a section: the GPU has work meanwhile, and waits after it
  double nothing_ms = 0;   // of a section: no event recorded meanwhile
  double recorder_ms = 0;  // of a section: what of it recording is expected to have cost
  bool mostly_recorder() const { return 2 * recorder_ms > total_ms; }
  double launch_us = 0;          // of a launch-bound host: launch to launch, median
  double kernel_us = 0;          // median kernel
  double idle_percent = 0;       // launches that found their stream idle
  double idle_ms = 0;            // of the GPU, within what savings are of: all that it can save
  double gpu_ms = 0;             // of checks: what they compute, which goes beyond the idle time
  bool after_copy_back = false;  // of unrecorded work: a copy to the host comes before it
  bool before_copy_in = false;   // ... a copy from the host comes next
  // Host time that goes to other processes, beside the GPU's work, too; 0: idle_ms alone goes.
  double moved_ms = 0;
  double behind_work_ms = 0;  // of loading: what of it the GPU's work hides today
  double left_ms = 0;         // of it, what the change of the code leaves
  double early_ms = 0;        // of late launches: idle time at the start of a step's GPU work
  double until_ms = 0;        // ... and when the last of it ends, from that start
  std::string within;         // of a section: the function that holds it; may be empty
  std::string work;           // ... what most of it is part of, which may last longer; may be empty
  double work_ms = 0;         // ... how long that takes of it; 0: unknown
  bool once = false;          // most of it is in no steady step
  bool ramp = false;          // launches come late at the start of a step only
  bool ahead = false;         // launches come late although the host is ahead as a rule
  bool unsure = false;  // sizes or waits have to go before a graph; or nothing tells what goes
  // Of such: the stretch of the only step that holds most of its gaps, and when a second thread
  // begins to launch, which runs backward; 0: several steps, or no such thread.
  double gaps_from_ms = 0, gaps_to_ms = 0;
  double backward_ms = 0;
  double behind_ms = 0;  // of waits: idle time right behind them
  double inside_ms = 0;  // of replays: idle time between their own kernels
  // Of waits: most are in one loop of so many rounds, each with so many waits; 0: in none.
  std::uint64_t rounds = 0, waits_a_round = 0;
  std::uint64_t parts = 0;  // of waits that compiled code branches on: its compiled parts
  double ended_part = 1;    // of waits: of their idle time, what has a way out
  bool gone = false;  // of waits: their ops go altogether, so a replay tells all that they cost
  bool small_kernels = false;     // of waits: each with a few small kernels, which are late as well
  std::vector<HostPlace> places;  // the most time first
  std::vector<HostPlace> python;  // of a launch-bound host: what launches nothing, the most first
  std::vector<analysis::Change> changes;  // what the simulation is asked
  std::vector<analysis::Change> least;    // what is sure to go; empty: all of `changes`
  std::vector<analysis::Change> most;  // what may go with `changes`, which it has; empty: nothing
};

}  // namespace jarvis::findings
