// All that is said about two traces, as facts: how they differ as workloads, where the difference
// of a step comes from, and what the primary could do about its time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "findings/one/analysis.h"
#include "findings/two/balance.h"
#include "findings/two/comparability.h"
#include "findings/two/compare_traces.h"
#include "findings/two/memory_runs.h"
#include "findings/two/moved_work.h"
#include "findings/two/pair_changes.h"
#include "findings/two/pair_phases.h"
#include "findings/two/pair_verdict.h"

namespace jarvis::findings {

// What a lever's target is made of.
enum class PairTarget : std::uint8_t {
  kSameShare,   // the share of the device's peak that the comparison reaches on its own
  kMeasured,    // a rate that was measured on the primary's device, where that is less far
  kBandwidth,   // the ratio of the devices' bandwidths
  kComparison,  // the comparison's own time: neither is near a roof, or the devices are the same
};

// A kind of work that takes the primary longer than what the comparison shows to be possible.
struct PairLever {
  ledger::WorkKind work = ledger::WorkKind::kUnknown;
  PairTarget target = PairTarget::kComparison;
  double now_ms = 0;  // GPU time of a unit
  double target_ms = 0;
  double comparison_ms = 0;
  std::vector<const CompareRow*> rows;  // of the kind, the largest gap first; not empty
  std::string library;                  // of the primary's kernels; empty: not known
  std::string comparison_library;
  // The primary's chains of small ops, a lever of their own, hold this work and save more of it.
  bool in_chains = false;
  double saved_ms() const { return now_ms - target_ms; }
};

// The host sets the primary's pace and nothing of the unit waits for the GPU, so that it could be
// replayed as one graph.
struct GraphLever {
  double now_ms = 0;   // of the unit
  double left_ms = 0;  // its GPU work, small collectives apart, and what the host does without ops
  double waiting_ms = 0;  // of small collectives, which another rank decides
};

// Of an A/B of one changed part: products that each side alone has, which do the same work if the
// change left it alone.
struct ExchangedProducts {
  double ms[2] = {0, 0};  // of a unit: primary, comparison
  double tflops[2] = {0, 0};
  std::optional<double> share[2];  // of the peak at their precision, 0 to 1
  std::string primary_precision;   // "fp8"; empty: as in the comparison
};

// A finding of the comparison about work that moved: the primary does it where no shape is
// recorded, so that its own analysis cannot tell.
struct MovedFinding {
  const Finding* finding;
  double saved_ms;  // of a unit of the primary, by how much of each kind of work it still has
};

struct ComparedPair {
  std::shared_ptr<const Analysis> primary;
  std::shared_ptr<const Analysis> comparison;
  Comparability comparability;
  TraceComparison ops;
  Balance balance;
  DifferenceVerdict verdict;
  PairChanges changes;
  PairPhases phases;
  MovedWork moved;
  std::vector<PairLever> levers;  // the most first
  // What the primary's host alone takes of a unit, as traced; absent: not known.
  std::optional<double> host_floor_ms;
  std::optional<GraphLever> graph;
  // The primary's own findings that no lever is about, in the order of its analysis.
  std::vector<const Finding*> own;
  // In place of own findings about parts of them; absent: those say as much.
  std::optional<MemoryRuns> runs;
  std::vector<const Finding*> in_runs;      // those own findings
  std::vector<const Finding*> beside_runs;  // own findings that share kernels with the runs
  std::vector<MovedFinding> of_moved;       // what saves most first
  std::optional<ExchangedProducts> exchanged;
  // What the shortest kernels take on each side, in microseconds: a fixed cost of a kernel that its
  // duration holds. Absent: too few kernels.
  std::optional<double> kernel_floor_us[2];
  double syncs[2] = {0,
                     0};  // calls that wait for the GPU, a unit; foreign and unrecorded work apart
  // The host sets the pace of the primary, by the one rule that every report asks.
  bool host_bound() const;
  // What the better way out of an own finding saves of a unit, alone; 0: not known.
  double OwnSavedMs(const Finding& finding) const;
  bool comparable() const { return comparability.verdict != "not comparable"; }
};

// Errors: kCancelled.
Result<ComparedPair> ComparePair(const CompareSide& primary, const CompareSide& comparison,
                                 Job& job);

// Whether it is about the host, or a way out takes launches away: it helps a host that sets the
// pace.
bool HelpsHost(const Finding& finding);

// Is its time waiting for another rank, whatever it moves? By its size.
bool IsOnlyWaiting(const ExchangePart& part, int side);

}  // namespace jarvis::findings
