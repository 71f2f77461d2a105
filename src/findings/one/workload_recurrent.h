// Recurrent networks by the ops that run them, fused or cell by cell. Internal to the layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"

namespace jarvis::findings {

// What recurrent ops tell of themselves; absent is what they do not.
struct Recurrence {
  double gpu_us = 0;  // forward and backward
  std::string op;     // the forward op of the most GPU time
  std::string cell;   // "LSTM", "GRU"; empty: another one, or several
  std::optional<bool> both_ways;
  std::optional<std::int64_t> hidden;
  std::optional<std::int64_t> layers;
  std::int64_t batch_least = 0, batch_most = 0;  // 0: not known
  std::int64_t steps_least = 0, steps_most = 0;  // time steps of a sequence; 0: not known
};

// Absent: nothing recurrent runs. `passes`: how often the model ran.
std::optional<Recurrence> FindRecurrence(const WorkloadFacts& facts, std::uint64_t passes);

// Family, batch, layers and hidden size.
void TellRecurrence(const WorkloadFacts& facts, const Recurrence& recurrence, Workload* out);
// The batch alone, of a program that has other work, too.
void TellBatchOf(const Recurrence& recurrence, Workload* out);

}  // namespace jarvis::findings
