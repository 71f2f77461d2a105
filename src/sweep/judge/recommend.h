// Which configuration of a sweep to use, and how sure that is.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/judge/spread.h"
#include "sweep/measure/facts.h"

namespace jarvis::sweep {

enum class Objective : std::uint8_t { kStepTime, kExposedComm, kGemmStability, kWeighted };
std::optional<Objective> ObjectiveOf(std::string_view name);  // "step_time"...
std::string_view ObjectiveName(Objective objective);

// What one configuration costs. Less is better in each; absent: not known.
struct ConfigMetrics {
  std::size_t config = 0;  // SweepFacts::configs
  std::size_t ranks = 0;
  bool complete = false;
  std::optional<double> step_ms;         // of the slowest rank
  std::optional<double> computation_ms;  // means over ranks
  std::optional<double> exposed_comm_ms;
  std::optional<double> idle_ms;
  std::optional<double> total_ms;
  std::optional<double> comm_latency_ms;   // sum over collectives
  std::optional<double> gemm_us;           // mean of a launch
  std::optional<double> slowdown_percent;  // of GEMMs below collectives; see stability.h
  std::optional<double> range_us;          // mean of the variance table's ranges
};
// Of configurations with traces, in the sweep's order.
std::vector<ConfigMetrics> MetricsOfConfigs(const SweepFacts& facts);

struct Weights {
  double step_time = 1, exposed_comm = 1, gemm_stability = 1;
};

enum class Confidence : std::uint8_t { kLow, kMedium, kHigh };
std::string_view ConfidenceName(Confidence confidence);

struct Candidate {
  ConfigMetrics metrics;
  std::optional<double> score;         // what it is ranked by; less is better
  std::optional<Change> against_best;  // of its ranks' values, where the objective has such
  bool pareto = false;                 // none is as good in all three and better in one
  std::vector<std::string> reasons;
};

struct Recommendation {
  std::vector<Candidate> ranked;  // the best first; those without a score last
  Confidence confidence = Confidence::kLow;
  std::vector<std::string> why;  // of the confidence
};

// high: the best differs from every other by more than the noise between ranks, nothing is missing,
// and there are several steps (one step's ranks wait for each other, so they are no samples of
// their own). low: the sweep's axes had no effect (CONFIG_MISMATCH), or there are too few ranks to
// tell. weighted: the sum of weight * value / best value.
Recommendation Recommend(const SweepFacts& facts, Objective objective, const Weights& weights);

}  // namespace jarvis::sweep
