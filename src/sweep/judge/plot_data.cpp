#include "sweep/judge/plot_data.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/join/report_compare.h"
#include "sweep/judge/recommend.h"
#include "sweep/judge/variance.h"

namespace jarvis::sweep {
namespace {

constexpr std::size_t kPiecesMax = 4000;  // of one lane of the timeline

class Filler {
 public:
  explicit Filler(const SweepFacts& facts) : facts_(facts) {}

  SweepPlotData Run() {
    for (const std::string& axis : facts_.sweep.axes)
      data_.axes.push_back(PlotAxisNamed(axis));
    Configs();
    for (const VarianceRow& row : VarianceRows(facts_)) {
      data_.variance.push_back({row.config, row.rank, row.range_us});
    }
    Gemms();
    Bandwidth();
    Step();
    return std::move(data_);
  }

 private:
  void Configs() {
    for (const Config& config : facts_.sweep.configs) {
      PlotConfig& shown = data_.configs.emplace_back();
      for (const AxisValue& value : config.values)
        shown.at.push_back(value.text);
    }
    for (const Candidate& one : Recommend(facts_, Objective::kStepTime, {}).ranked) {
      PlotConfig& shown = data_.configs[one.metrics.config];
      shown.step_ms = one.metrics.step_ms;
      shown.computation_ms = one.metrics.computation_ms;
      shown.exposed_comm_ms = one.metrics.exposed_comm_ms;
      shown.gemm_slowdown_pct = one.metrics.slowdown_percent;
      shown.pareto = one.pareto;
      if (!best_ && one.score) best_ = one.metrics.config;
    }
  }

  void Gemms() {
    std::size_t all = 0;
    for (const ConfigFacts& config : facts_.configs) {
      for (const RankFacts& rank : config.ranks) {
        for (const GemmKernel& gemm : rank.gemms)
          all += gemm.instances.size();
      }
    }
    const std::size_t every = all / kPlotPointsMax + 1;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> works;
    std::size_t number = 0;
    for (std::size_t c = 0; c < facts_.configs.size(); ++c) {
      for (const RankFacts& rank : facts_.configs[c].ranks) {
        for (const GemmKernel& gemm : rank.gemms) {
          const std::size_t work =
              works.try_emplace({gemm.op, gemm.dims, gemm.kernel}, works.size()).first->second;
          for (const GemmInstance& one : gemm.instances) {
            if (number++ % every == 0) data_.gemms.push_back({c, work, one.dur_us, one.overlap});
          }
        }
      }
    }
  }

  void Bandwidth() {
    for (std::size_t c = 0; c < facts_.configs.size(); ++c) {
      if (!facts_.configs[c].with_collectives) continue;
      for (const Table& table : facts_.configs[c].collectives.tables) {
        if (table.name != "nccl_summary_implicit_sync") continue;
        const std::size_t name = analysis::ColumnOf(table, "Collective name");
        const std::size_t size = analysis::ColumnOf(table, "Full msg size (MB)");
        const std::size_t bandwidth = analysis::ColumnOf(table, "bus bw (GB/s)_mean");
        for (const auto& row : table.rows) {
          if (std::max({name, size, bandwidth}) >= row.size()) continue;
          const auto* text = std::get_if<std::string>(&row[name]);
          const auto megabytes = analysis::NumberOf(row[size]);
          const auto gbps = analysis::NumberOf(row[bandwidth]);
          if (text != nullptr && megabytes && gbps)
            data_.bandwidth.push_back({c, *text, *megabytes * 1024 * 1024, *gbps});
        }
      }
    }
  }

  // One step of the best configuration. The ranks share a clock, or each starts at its own first
  // GPU work where their clocks are further apart than the step is long.
  void Step() {
    if (!best_) return;
    const ConfigFacts& config = facts_.configs[*best_];
    data_.step_of = ConfigText(facts_.sweep, facts_.sweep.configs[*best_]);
    std::vector<std::int64_t> starts;
    for (std::size_t r = 0; r < config.ranks.size(); ++r)
      starts.push_back(config.set->ranks[r].base_ns + FirstOf(config.ranks[r]));
    const auto [first, last] = std::minmax_element(starts.begin(), starts.end());
    const double length_us = StepTimeMs(config).value_or(0) * 1000;
    const bool shared = static_cast<double>(*last - *first) / 1000 <= length_us;
    for (std::size_t r = 0; r < config.ranks.size(); ++r) {
      const std::int64_t origin =
          shared ? *first - config.set->ranks[r].base_ns : FirstOf(config.ranks[r]);
      data_.step.push_back({config.ranks[r].rank,
                            Lane(config.ranks[r].computing, origin, length_us),
                            Lane(config.ranks[r].communicating, origin, length_us)});
    }
  }

  static std::int64_t FirstOf(const RankFacts& rank) {
    std::int64_t first = INT64_MAX;
    for (const auto* set : {&rank.computing, &rank.communicating}) {
      if (!set->empty()) first = std::min(first, set->front().start);
    }
    return first == INT64_MAX ? 0 : first;
  }

  // Pieces nearer to each other than can be seen are drawn as one where there are too many.
  static IntervalSet<double> Lane(const IntervalSet<std::int64_t>& set, std::int64_t origin,
                                  double length_us) {
    IntervalSet<double> lane;
    const double gap = set.size() > kPiecesMax ? length_us / kPiecesMax : 0;
    for (const auto& piece : set) {
      const double start = static_cast<double>(piece.start - origin) / 1000;
      const double end = std::min(length_us, static_cast<double>(piece.end - origin) / 1000);
      if (end <= 0 || start >= length_us) continue;
      if (!lane.empty() && start - lane.back().end < gap) {
        lane.back().end = std::max(lane.back().end, end);
      } else {
        lane.push_back({std::max(0.0, start), end});
      }
    }
    return lane;
  }

  const SweepFacts& facts_;
  SweepPlotData data_;
  std::optional<std::size_t> best_;
};

}  // namespace

SweepPlotData PlotDataOf(const SweepFacts& facts) {
  return Filler(facts).Run();
}

std::string ConfigText(const Sweep& sweep, const Config& config) {
  std::string text;
  for (std::size_t a = 0; a < config.values.size(); ++a) {
    if (!text.empty()) text += ", ";
    text += config.values[a].number ? config.values[a].text + " " + sweep.axes[a]
                                    : sweep.axes[a] + " " + config.values[a].text;
  }
  return text.empty() ? config.label : text;
}

}  // namespace jarvis::sweep
