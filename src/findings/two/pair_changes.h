// What changed between two traces, as far as they show it: the difference of a unit as a few
// changes, each netted with what it costs elsewhere, so that a faster cast that needs copies is one
// change and work that moved into compiled kernels is the same work.
//
// Every line of the balance belongs to one change at most; what no change has is `rest_ms`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "findings/two/balance.h"
#include "findings/two/pair_waits.h"

namespace jarvis::findings {

enum class ChangeKind : std::uint8_t {
  kGenerated,      // one side runs it in a compiler's fused kernels
  kPrecision,      // products and attention by kernels of another precision
  kReplaced,       // by other kernels
  kSameCalls,      // the same kernels, as often, take another time
  kFewerCalls,     // of the same kernels, or none any more
  kMoreCalls,      // ... or new ones
  kCommunication,  // exposed
  kHostIdle,       // the GPU has nothing to do, whatever the host does
  kInput,          // ... but to wait for the next batch
  kHostCopies,
};

// Arrays: of the candidate, of the baseline; of a unit.
struct ChangedKernel {
  std::string name;  // short
  ledger::WorkKind work = ledger::WorkKind::kUnknown;
  double ms[2] = {0, 0};
  double calls[2] = {0, 0};
  double difference_ms() const { return ms[0] - ms[1]; }
};

struct PairChange {
  ChangeKind kind = ChangeKind::kReplaced;
  double ms = 0;                            // the sum of its lines
  std::vector<const BalanceLine*> lines;    // the largest first; of the balance
  std::vector<ChangedKernel> kernels;       // of these lines, the largest change first
  std::vector<const BalanceLine*> helpers;  // of `lines`: casts and the like for the others
};

// An op outside of all others whose number changed.
struct ChangedCall {
  std::string name;
  double calls[2] = {0, 0};
  double host_ms[2] = {0, 0};  // with what it calls
  double wait_ms[2] = {0, 0};  // of host_ms: in calls that wait for the GPU
  double own_ms(int side) const { return host_ms[side] - wait_ms[side]; }
};

struct PairChanges {
  std::vector<PairChange> changes;  // the largest first
  double rest_ms = 0;
  std::vector<ChangedCall> calls;   // whose number changed much; the most host time first
  double generated_ms[2] = {0, 0};  // all that runs in a compiler's fused kernels
  // Kernels whose names say that they quantize what is computed, with what is fused into them.
  double quantised_ms[2] = {0, 0};
  double quantised_calls[2] = {0, 0};
  double kernels[2] = {0, 0};  // and copies and fills: how many
  double ops[2] = {0, 0};      // that were recorded of the host
  std::string precision[2];    // most used: where the two differ; else empty
  // Nearly every kernel runs so many times as often in the candidate (below 1: in the baseline).
  double times_as_often = 1;
  // The side that quantizes where the other does not, as a good part of a unit; absent: none.
  std::optional<int> quantises;
};

// Refers to the balance. Errors: kCancelled.
// `waits`: of the candidate, of the baseline.
Result<PairChanges> FindChanges(const AnalysedSide& candidate, const AnalysedSide& baseline,
                                const SideWaits* const (&waits)[2], const Balance& balance,
                                const Job& job);

}  // namespace jarvis::findings
