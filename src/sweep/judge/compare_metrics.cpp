#include "sweep/judge/compare_metrics.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sweep/judge/recommend.h"
#include "sweep/judge/stability.h"
#include "sweep/judge/timeline.h"

namespace jarvis::sweep {
namespace {

RankValues StepTimes(const ConfigFacts& config) {
  RankValues values;
  for (std::size_t r = 0; r < config.ranks.size(); ++r) {
    if (const auto one = StepTimeMs(config.set->ranks[r], config.ranks[r])) values.push_back(*one);
  }
  return values;
}

RankValues GemmMeans(const ConfigFacts& config) {
  RankValues values;
  for (const RankFacts& rank : config.ranks) {
    RankValues mine;
    for (const GemmKernel& gemm : rank.gemms) {
      for (const GemmInstance& one : gemm.instances)
        mine.push_back(one.dur_us);
    }
    if (!mine.empty()) values.push_back(RankMean(mine));
  }
  return values;
}

RankValues Slowdowns(const ConfigFacts& config) {
  RankValues values;
  for (const RankFacts& rank : config.ranks) {
    RankValues mine;
    for (const GemmKernel& gemm : rank.gemms) {
      if (const auto one = StabilityOf(gemm.instances).slowdown_percent) mine.push_back(*one);
    }
    if (!mine.empty()) values.push_back(RankMean(mine));
  }
  return values;
}

struct SweepMetric {
  const char* name;
  const char* unit;
  RankValues (*values)(const ConfigFacts& config);
};
constexpr SweepMetric kComparedMetrics[] = {
    {"Step time", "ms", &StepTimes},
    {"Computation", "ms", [](const ConfigFacts& c) { return TimesMs(c, "computation_time"); }},
    {"Exposed communication", "ms",
     [](const ConfigFacts& c) { return TimesMs(c, "exposed_comm_time"); }},
    {"Total communication", "ms",
     [](const ConfigFacts& c) { return TimesMs(c, "total_comm_time"); }},
    {"Idle", "ms", [](const ConfigFacts& c) { return TimesMs(c, "idle_time"); }},
    {"Mean GEMM launch", "us", &GemmMeans},
    {"GEMM slowdown below collectives", "%", &Slowdowns},
};

// Absent: no sweep has it.
std::optional<PageMetric> MetricOf(const ComparedSweeps& compared, const SweepMetric& metric) {
  PageMetric shown{metric.name, metric.unit, {}};
  std::vector<std::optional<double>> best(compared.sweeps.size());
  std::vector<std::vector<RankValues>> values;  // by configuration and sweep
  for (const std::string& text : compared.order) {
    auto& row = values.emplace_back(compared.sweeps.size());
    for (std::size_t s = 0; s < compared.sweeps.size(); ++s) {
      const ConfigFacts* config = compared.At(text, s);
      if (config != nullptr) row[s] = metric.values(*config);
      if (!row[s].empty()) best[s] = std::min(best[s].value_or(1e300), RankMean(row[s]));
    }
  }
  bool any = false;
  for (std::size_t i = 0; i < compared.order.size(); ++i) {
    PageMetric::Row row{compared.order[i], {}};
    for (std::size_t s = 0; s < compared.sweeps.size(); ++s) {
      PageValue value;
      const RankValues& mine = values[i][s];
      const RankValues& base = values[i][compared.options.baseline];
      if (!mine.empty()) {
        any = true;
        value.mean = RankMean(mine);
        value.worst = *std::max_element(mine.begin(), mine.end());
        if (*best[s] > 0) value.behind_best_pct = 100 * (*value.mean / *best[s] - 1);
        if (s == compared.options.baseline) {
          value.verdict = PageVerdict::kBaseline;
        } else if (!base.empty()) {
          const auto change = ChangeOf(base, mine);
          if (RankMean(base) != 0) value.change_pct = 100 * (*value.mean / RankMean(base) - 1);
          if (compared.other_work[s]) {
            value.why = "not the same work";
          } else {
            value.verdict = VerdictOf(change, compared.options.threshold_pct);
            value.why = WhyOf(change);
          }
        }
      }
      row.sweeps.push_back(std::move(value));
    }
    shown.rows.push_back(std::move(row));
  }
  if (!any) return std::nullopt;
  return shown;
}

}  // namespace

std::vector<PageMetric> CompareMetrics(const ComparedSweeps& compared) {
  std::vector<PageMetric> shown;
  for (const SweepMetric& metric : kComparedMetrics) {
    if (auto one = MetricOf(compared, metric)) shown.push_back(std::move(*one));
  }
  return shown;
}

}  // namespace jarvis::sweep
