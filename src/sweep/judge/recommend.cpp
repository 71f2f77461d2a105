#include "sweep/judge/recommend.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"
#include "sweep/judge/comms.h"
#include "sweep/judge/stability.h"
#include "sweep/judge/timeline.h"
#include "sweep/judge/variance.h"

namespace jarvis::sweep {
namespace {

using Value = std::optional<double>;

// The three that the Pareto set is about.
std::array<Value, 3> Costs(const ConfigMetrics& metrics) {
  return {metrics.step_ms, metrics.exposed_comm_ms, metrics.slowdown_percent};
}

// Is a at least as good in all that both have, and better in one?
bool Dominates(const ConfigMetrics& a, const ConfigMetrics& b) {
  bool better = false;
  const auto mine = Costs(a);
  const auto others = Costs(b);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (!mine[i] || !others[i]) continue;
    if (*mine[i] > *others[i]) return false;
    better = better || *mine[i] < *others[i];
  }
  return better;
}

// The values of the ranks that the objective is made of; empty: it has none.
std::vector<double> RankValues(const ConfigFacts& config, Objective objective) {
  std::vector<double> values;
  switch (objective) {
    case Objective::kStepTime:
      for (std::size_t r = 0; r < config.ranks.size(); ++r) {
        if (const auto one = StepTimeMs(config.set->ranks[r], config.ranks[r]))
          values.push_back(*one);
      }
      return values;
    case Objective::kExposedComm: return TimesMs(config, "exposed_comm_time");
    case Objective::kGemmStability:
      for (const RankFacts& rank : config.ranks) {
        std::vector<double> mine;
        for (const GemmKernel& gemm : rank.gemms) {
          if (const auto one = StabilityOf(gemm.instances).slowdown_percent) mine.push_back(*one);
        }
        if (!mine.empty())
          values.push_back(analysis::PairwiseSum(mine) / static_cast<double>(mine.size()));
      }
      return values;
    case Objective::kWeighted: return values;
  }
  return values;
}

class Recommender {
 public:
  Recommender(const SweepFacts& facts, Objective objective, const Weights& weights)
      : facts_(facts), objective_(objective), weights_(weights) {}

  Recommendation Run() {
    for (ConfigMetrics& metrics : MetricsOfConfigs(facts_)) {
      Candidate candidate;
      candidate.metrics = metrics;
      out_.ranked.push_back(std::move(candidate));
    }
    FindBest();
    for (Candidate& one : out_.ranked) {
      one.score = Score(one.metrics);
      one.pareto = std::none_of(out_.ranked.begin(), out_.ranked.end(), [&](const auto& other) {
        return Dominates(other.metrics, one.metrics);
      });
    }
    std::stable_sort(out_.ranked.begin(), out_.ranked.end(), [](const auto& a, const auto& b) {
      if (a.score.has_value() != b.score.has_value()) return a.score.has_value();
      return a.score && *a.score < *b.score;
    });
    Compare();
    for (Candidate& one : out_.ranked)
      AddReasons(&one);
    Judge();
    return std::move(out_);
  }

 private:
  void FindBest() {
    for (const Candidate& one : out_.ranked) {
      const auto costs = Costs(one.metrics);
      for (std::size_t i = 0; i < costs.size(); ++i) {
        if (costs[i] && (!best_[i] || *costs[i] < *best_[i])) best_[i] = costs[i];
      }
    }
  }

  Value Score(const ConfigMetrics& metrics) const {
    const auto costs = Costs(metrics);
    if (objective_ != Objective::kWeighted) return costs[static_cast<std::size_t>(objective_)];
    const double weights[] = {weights_.step_time, weights_.exposed_comm, weights_.gemm_stability};
    double sum = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (weights[i] == 0) continue;
      if (!costs[i]) return std::nullopt;
      // Slowdowns may be 0: all are shifted to "times as long", of which the best is 1 or more.
      const double shift = i == 2 ? 100 : 0;
      const double least = *best_[i] + shift;
      sum += weights[i] * (least > 0 ? (*costs[i] + shift) / least : 1);
    }
    return sum;
  }

  void Compare() {
    if (out_.ranked.empty() || !out_.ranked.front().score) return;
    const Objective by = objective_ == Objective::kWeighted ? Objective::kStepTime : objective_;
    const std::vector<double> best =
        RankValues(facts_.configs[out_.ranked.front().metrics.config], by);
    for (std::size_t i = 1; i < out_.ranked.size(); ++i) {
      out_.ranked[i].against_best =
          ChangeOf(best, RankValues(facts_.configs[out_.ranked[i].metrics.config], by));
    }
  }

  void AddReasons(Candidate* one) const {
    const ConfigMetrics& m = one->metrics;
    constexpr const char* kNames[] = {"step time", "exposed communication", "GEMM slowdown"};
    constexpr const char* kUnits[] = {"ms", "ms", "%"};
    const auto costs = Costs(m);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (!costs[i] || !best_[i]) continue;
      if (*costs[i] == *best_[i]) {
        one->reasons.push_back(
            fmt::format("lowest {}: {:.3f} {}", kNames[i], *costs[i], kUnits[i]));
      }
    }
    if (one->against_best && !one->against_best->significant)
      one->reasons.emplace_back("differs from the first by no more than the noise between ranks");
    if (one->pareto) one->reasons.emplace_back("in the Pareto set");
    if (!m.complete) one->reasons.push_back(fmt::format("measured on {} ranks only", m.ranks));
  }

  void Judge() {
    auto& why = out_.why;
    if (out_.ranked.empty() || !out_.ranked.front().score) {
      why.emplace_back("no configuration has what the objective is made of");
      return;
    }
    std::size_t scored = 0;
    std::size_t alike = 0;
    std::size_t untold = 0;
    for (const Candidate& one : out_.ranked) {
      if (!one.score) continue;
      ++scored;
      if (&one == &out_.ranked.front()) continue;
      if (!one.against_best)
        ++untold;
      else if (!one.against_best->significant)
        ++alike;
    }
    const bool mismatch = std::any_of(facts_.warnings.begin(), facts_.warnings.end(),
                                      [](const auto& w) { return w.code == "CONFIG_MISMATCH"; });
    if (scored < 2) {
      why.emplace_back("one configuration only: there is nothing to choose");
      return;
    }
    if (mismatch) {
      why.emplace_back(
          "collectives did not run as their directories say (CONFIG_MISMATCH): the axis may have "
          "had no effect");
    }
    if (untold > 0)
      why.push_back(fmt::format("{} configurations have too few ranks to tell noise", untold));
    if (alike > 0) {
      why.push_back(fmt::format(
          "{} other configurations are within the noise between ranks of the first", alike));
    }
    std::size_t steps = 0;
    for (const ConfigFacts& config : facts_.configs) {
      for (const RankFacts& rank : config.ranks)
        steps = std::max(steps, rank.steps);
    }
    if (steps <= 1) why.emplace_back("one step a run: the noise between steps cannot be told");
    const bool whole = facts_.complete();
    if (!whole) why.emplace_back("the sweep is not complete, see the warnings");
    if (mismatch || untold > 0) return;
    out_.confidence = alike == 0 && whole && steps > 1 ? Confidence::kHigh : Confidence::kMedium;
    if (why.empty())
      why.emplace_back("the first differs from every other by more than the noise between ranks");
  }

  const SweepFacts& facts_;
  const Objective objective_;
  const Weights& weights_;
  std::array<Value, 3> best_;
  Recommendation out_;
};

}  // namespace

std::optional<Objective> ObjectiveOf(std::string_view name) {
  for (const Objective one : {Objective::kStepTime, Objective::kExposedComm,
                              Objective::kGemmStability, Objective::kWeighted}) {
    if (ObjectiveName(one) == name) return one;
  }
  return std::nullopt;
}

std::string_view ObjectiveName(Objective objective) {
  switch (objective) {
    case Objective::kStepTime: return "step_time";
    case Objective::kExposedComm: return "exposed_comm";
    case Objective::kGemmStability: return "gemm_stability";
    case Objective::kWeighted: return "weighted";
  }
  return "";
}

std::string_view ConfidenceName(Confidence confidence) {
  switch (confidence) {
    case Confidence::kLow: return "low";
    case Confidence::kMedium: return "medium";
    case Confidence::kHigh: return "high";
  }
  return "";
}

std::vector<ConfigMetrics> MetricsOfConfigs(const SweepFacts& facts) {
  std::vector<std::pair<double, std::size_t>> ranges(facts.configs.size());
  for (const VarianceRow& row : VarianceRows(facts)) {
    ranges[row.config].first += row.range_us;
    ++ranges[row.config].second;
  }
  std::vector<ConfigMetrics> list;
  for (std::size_t c = 0; c < facts.configs.size(); ++c) {
    const ConfigFacts& config = facts.configs[c];
    if (config.ranks.empty()) continue;
    ConfigMetrics metrics;
    metrics.config = c;
    metrics.ranks = config.ranks.size();
    metrics.complete = config.complete;
    metrics.step_ms = StepTimeMs(config);
    metrics.computation_ms = MeanTimeMs(config, "computation_time");
    metrics.exposed_comm_ms = MeanTimeMs(config, "exposed_comm_time");
    metrics.idle_ms = MeanTimeMs(config, "idle_time");
    metrics.total_ms = MeanTimeMs(config, "total_time");
    metrics.comm_latency_ms = TotalLatencyMs(config);
    metrics.gemm_us = MeanGemmUs(config);
    metrics.slowdown_percent = MeanSlowdown(config);
    if (ranges[c].second > 0)
      metrics.range_us = ranges[c].first / static_cast<double>(ranges[c].second);
    list.push_back(metrics);
  }
  return list;
}

Recommendation Recommend(const SweepFacts& facts, Objective objective, const Weights& weights) {
  return Recommender(facts, objective, weights).Run();
}

}  // namespace jarvis::sweep
