// The sweep's collectives: latency, bandwidth and skew of every operation in every configuration,
// and which rank makes the others wait.
#pragma once

#include "sweep/measure/facts.h"

namespace jarvis::sweep {

// nccl_master_all_configs. Latency and skew in microseconds, bandwidth in GB (2^30 bytes) per
// second.
Table NcclMaster(const SweepFacts& facts);

// One row per operation: its best configuration by mean latency and by mean bus bandwidth.
Table BestByOperation(const SweepFacts& facts);

// Who waits and who is waited for, of the collectives in which every rank waits for all.
struct Straggler {
  std::int64_t rank = 0;
  std::int64_t arrived_last = 0;  // collectives
  double last_share = 0;          // of all collectives, percent
  double wait_us = 0;             // that it waited for others
};
// By how often they arrived last, the worst first. `config`: null: all configurations together.
std::vector<Straggler> Stragglers(const SweepFacts& facts, const ConfigFacts* config);
// sweep_stragglers: one row per configuration and rank; "all" for all configurations together.
Table StragglerTable(const SweepFacts& facts);

// The sum of the latencies of a configuration's collectives, ms; absent: none was matched.
std::optional<double> TotalLatencyMs(const ConfigFacts& config);

}  // namespace jarvis::sweep
