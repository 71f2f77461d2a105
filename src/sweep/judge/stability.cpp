#include "sweep/judge/stability.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/attribution/stats.h"
#include "output/chart_stats.h"
#include "sweep/scan/config_cells.h"

namespace jarvis::sweep {
namespace {

constexpr double kClear = 0.05;
constexpr double kOverlapped = 0.5;
constexpr double kVaries = 0.2;  // between the shares of overlap

using Key = std::tuple<std::string, std::string, std::string>;  // op, shapes, kernel

Key KeyOf(const GemmKernel& gemm) {
  return {gemm.op, gemm.dims, gemm.kernel};
}

std::vector<double> Durations(std::span<const GemmInstance> instances) {
  std::vector<double> out;
  for (const GemmInstance& one : instances)
    out.push_back(one.dur_us);
  return out;
}

double MeanOf(const std::vector<double>& values) {
  return analysis::PairwiseSum(values) / static_cast<double>(values.size());
}

template <typename Visit>
void ForEachKernel(const SweepFacts& facts, const Visit& visit) {
  for (std::size_t c = 0; c < facts.configs.size(); ++c) {
    for (const RankFacts& rank : facts.configs[c].ranks) {
      for (const GemmKernel& gemm : rank.gemms)
        visit(c, rank, gemm);
    }
  }
}

Cell TextOrAbsent(const std::string& text) {
  return text.empty() ? Cell() : Cell(text);
}

std::optional<double> Measure(const Stability& one, RankBy by) {
  switch (by) {
    case RankBy::kRange: return one.spread.max - one.spread.min;
    case RankBy::kStd: return one.spread.std;
    case RankBy::kCv: return one.spread.cv;
    case RankBy::kTotalExcess: return one.excess_us;
    case RankBy::kOverlapCost: return one.overlap_cost_us;
  }
  return std::nullopt;
}

}  // namespace

Stability StabilityOf(std::span<const GemmInstance> instances) {
  Stability out;
  const std::vector<double> durations = Durations(instances);
  out.spread = SpreadOf(durations);
  std::vector<double> clear;
  std::vector<double> overlapped;
  std::vector<double> shares;
  for (const GemmInstance& one : instances) {
    shares.push_back(one.overlap);
    if (one.overlap < kClear) clear.push_back(one.dur_us);
    if (one.overlap > kOverlapped) overlapped.push_back(one.dur_us);
    out.excess_us += one.dur_us - out.spread.median;
  }
  out.overlap_mean = MeanOf(shares);
  out.clear = clear.size();
  out.overlapped = overlapped.size();
  if (!clear.empty()) out.clear_us = MeanOf(clear);
  if (!overlapped.empty()) out.overlapped_us = MeanOf(overlapped);
  if (out.clear_us && out.overlapped_us && *out.clear_us > 0)
    out.slowdown_percent = 100 * (*out.overlapped_us / *out.clear_us - 1);
  if (out.clear_us && out.overlapped_us) {
    const double median = analysis::Median(clear);
    double cost = 0;
    for (const double us : overlapped)
      cost += us - median;
    out.overlap_cost_us = cost;
  }
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  if (*most - *least >= kVaries) {
    std::vector<output::SvgPoint> points;
    for (const GemmInstance& one : instances)
      points.push_back({one.overlap, one.dur_us});
    if (const auto fit = output::FitOf(points)) {
      out.slope_us = fit->slope;
      if (out.spread.max > out.spread.min)
        out.pearson = std::copysign(std::sqrt(fit->r_squared), fit->slope);
    }
  }
  return out;
}

Table GemmKernelStability(const SweepFacts& facts) {
  Table table{"gemm_kernel_stability", AxisColumns(facts.sweep), {}};
  for (const char* column : {"rank",
                             "op",
                             "dims",
                             "kernel_name",
                             "count",
                             "mean_us",
                             "median_us",
                             "std_us",
                             "cv",
                             "min_us",
                             "max_us",
                             "range_us",
                             "iqr_us",
                             "p95_us",
                             "mad_us",
                             "overlap_frac_mean",
                             "n_clear",
                             "n_overlapped",
                             "mean_clear_us",
                             "mean_overlapped_us",
                             "slowdown_pct",
                             "slope_us_per_full_overlap",
                             "pearson_r",
                             "total_excess_us",
                             "overlap_cost_us"}) {
    table.columns.emplace_back(column);
  }
  ForEachKernel(facts, [&](std::size_t c, const RankFacts& rank, const GemmKernel& gemm) {
    const Stability one = StabilityOf(gemm.instances);
    std::vector<Cell> row = AxisCells(facts.sweep.configs[c]);
    row.insert(row.end(), {rank.rank,
                           TextOrAbsent(gemm.op),
                           TextOrAbsent(gemm.dims),
                           gemm.kernel,
                           static_cast<std::int64_t>(gemm.instances.size()),
                           one.spread.mean,
                           one.spread.median,
                           CellOf(one.spread.std),
                           CellOf(one.spread.cv),
                           one.spread.min,
                           one.spread.max,
                           one.spread.max - one.spread.min,
                           one.spread.iqr,
                           one.spread.p95,
                           one.spread.mad,
                           one.overlap_mean,
                           static_cast<std::int64_t>(one.clear),
                           static_cast<std::int64_t>(one.overlapped),
                           CellOf(one.clear_us),
                           CellOf(one.overlapped_us),
                           CellOf(one.slowdown_percent),
                           CellOf(one.slope_us),
                           CellOf(one.pearson),
                           one.excess_us,
                           CellOf(one.overlap_cost_us)});
    table.rows.push_back(std::move(row));
  });
  return table;
}

Table GemmKernelRanks(const SweepFacts& facts) {
  Table table{"gemm_kernel_ranks", AxisColumns(facts.sweep), {}};
  for (const char* column :
       {"op", "dims", "kernel_name", "ranks", "count", "mean_us", "rank_mean_min", "rank_mean_max",
        "rank_spread_pct", "slowest_rank", "slowdown_pct_mean"}) {
    table.columns.emplace_back(column);
  }
  for (std::size_t c = 0; c < facts.configs.size(); ++c) {
    struct Group {
      std::vector<double> means;  // by rank that has it
      std::vector<std::int64_t> ranks;
      std::vector<double> slowdowns;
      std::int64_t count = 0;
    };
    std::map<Key, Group> groups;
    std::vector<const Key*> order;
    for (const RankFacts& rank : facts.configs[c].ranks) {
      for (const GemmKernel& gemm : rank.gemms) {
        const auto [found, added] = groups.try_emplace(KeyOf(gemm));
        if (added) order.push_back(&found->first);
        const Stability one = StabilityOf(gemm.instances);
        found->second.means.push_back(one.spread.mean);
        found->second.ranks.push_back(rank.rank);
        found->second.count += static_cast<std::int64_t>(gemm.instances.size());
        if (one.slowdown_percent) found->second.slowdowns.push_back(*one.slowdown_percent);
      }
    }
    for (const Key* key : order) {
      const Group& group = groups.at(*key);
      const auto [least, most] = std::minmax_element(group.means.begin(), group.means.end());
      std::vector<Cell> row = AxisCells(facts.sweep.configs[c]);
      row.insert(row.end(), {TextOrAbsent(std::get<0>(*key)), TextOrAbsent(std::get<1>(*key)),
                             std::get<2>(*key), static_cast<std::int64_t>(group.ranks.size()),
                             group.count, MeanOf(group.means), *least, *most,
                             *least > 0 ? Cell(100 * (*most / *least - 1)) : Cell(),
                             group.ranks[static_cast<std::size_t>(most - group.means.begin())],
                             group.slowdowns.empty() ? Cell() : Cell(MeanOf(group.slowdowns))});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table GemmKernelConfigs(const SweepFacts& facts) {
  Table table{"gemm_kernel_configs",
              {"op", "dims", "kernel_name", "configs", "count", "mean_us", "best_config",
               "best_mean_us", "worst_config", "worst_mean_us", "spread_pct"},
              {}};
  struct Group {
    std::map<std::size_t, std::vector<double>> durations;  // by configuration
  };
  std::map<Key, Group> groups;
  std::vector<const Key*> order;
  ForEachKernel(facts, [&](std::size_t c, const RankFacts&, const GemmKernel& gemm) {
    const auto [found, added] = groups.try_emplace(KeyOf(gemm));
    if (added) order.push_back(&found->first);
    auto& mine = found->second.durations[c];
    for (const GemmInstance& one : gemm.instances)
      mine.push_back(one.dur_us);
  });
  for (const Key* key : order) {
    std::vector<double> all;
    std::vector<std::pair<std::size_t, double>> means;
    for (const auto& [c, durations] : groups.at(*key).durations) {
      means.emplace_back(c, MeanOf(durations));
      all.insert(all.end(), durations.begin(), durations.end());
    }
    const auto [best, worst] =
        std::minmax_element(means.begin(), means.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
    table.rows.push_back(
        {TextOrAbsent(std::get<0>(*key)), TextOrAbsent(std::get<1>(*key)), std::get<2>(*key),
         static_cast<std::int64_t>(means.size()), static_cast<std::int64_t>(all.size()),
         MeanOf(all), facts.sweep.configs[best->first].label, best->second,
         facts.sweep.configs[worst->first].label, worst->second,
         best->second > 0 ? Cell(100 * (worst->second / best->second - 1)) : Cell()});
  }
  return table;
}

Table CollectiveGemmOverlap(const SweepFacts& facts) {
  Table table{"collective_gemm_overlap", AxisColumns(facts.sweep), {}};
  for (const char* column :
       {"collective", "collective_ms", "gemm_ms_beside", "share_of_collective_pct"}) {
    table.columns.emplace_back(column);
  }
  for (std::size_t c = 0; c < facts.configs.size(); ++c) {
    const ConfigFacts& config = facts.configs[c];
    if (!config.with_collectives) continue;
    std::vector<IntervalSet<std::int64_t>> gemms;  // by rank
    for (const RankFacts& rank : config.ranks) {
      std::vector<Interval<std::int64_t>> pieces;
      for (const GemmKernel& gemm : rank.gemms) {
        for (const GemmInstance& one : gemm.instances) {
          pieces.push_back(
              {one.start_ns, one.start_ns + static_cast<std::int64_t>(one.dur_us * 1000 + 0.5)});
        }
      }
      gemms.push_back(Union(std::move(pieces)));
    }
    std::map<std::string, std::pair<double, double>> kinds;  // time, of it beside GEMMs; us
    for (const analysis::RankCall& call : config.collectives.matching.calls) {
      const auto* name = std::get_if<std::string>(&call.keys()[analysis::kCollective]);
      auto& [time, beside] = kinds[name != nullptr ? *name : call.kind->kernel];
      const std::int64_t start = call.call->ts_ns;
      const std::int64_t end = start + call.call->dur_ns;
      time += static_cast<double>(call.call->dur_ns) / 1000;
      const auto& set = gemms[call.rank];
      auto piece = std::partition_point(set.begin(), set.end(),
                                        [&](const auto& one) { return one.end <= start; });
      for (; piece != set.end() && piece->start < end; ++piece) {
        beside +=
            static_cast<double>(std::min(piece->end, end) - std::max(piece->start, start)) / 1000;
      }
    }
    for (const auto& [name, times] : kinds) {
      std::vector<Cell> row = AxisCells(facts.sweep.configs[c]);
      row.insert(row.end(), {name, times.first / 1000, times.second / 1000,
                             times.first > 0 ? Cell(100 * times.second / times.first) : Cell()});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::optional<double> MeanSlowdown(const ConfigFacts& config) {
  std::vector<double> all;
  for (const RankFacts& rank : config.ranks) {
    for (const GemmKernel& gemm : rank.gemms) {
      const auto one = StabilityOf(gemm.instances).slowdown_percent;
      if (one) all.push_back(*one);
    }
  }
  if (all.empty()) return std::nullopt;
  return MeanOf(all);
}

std::optional<double> MeanGemmUs(const ConfigFacts& config) {
  std::vector<double> all;
  for (const RankFacts& rank : config.ranks) {
    for (const GemmKernel& gemm : rank.gemms) {
      for (const GemmInstance& one : gemm.instances)
        all.push_back(one.dur_us);
    }
  }
  if (all.empty()) return std::nullopt;
  return MeanOf(all);
}

std::optional<RankBy> RankByOf(std::string_view name) {
  constexpr std::pair<std::string_view, RankBy> kNames[] = {{"range", RankBy::kRange},
                                                            {"std", RankBy::kStd},
                                                            {"cv", RankBy::kCv},
                                                            {"total_excess", RankBy::kTotalExcess},
                                                            {"overlap_cost", RankBy::kOverlapCost}};
  for (const auto& [known, by] : kNames) {
    if (known == name) return by;
  }
  return std::nullopt;
}

std::vector<std::size_t> LeastSteady(const SweepFacts& facts, RankBy by, std::size_t limit) {
  std::vector<std::pair<double, std::size_t>> rows;
  std::size_t number = 0;
  ForEachKernel(facts, [&](std::size_t, const RankFacts&, const GemmKernel& gemm) {
    if (const auto value = Measure(StabilityOf(gemm.instances), by))
      rows.emplace_back(*value, number);
    ++number;
  });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < std::min(limit, rows.size()); ++i)
    out.push_back(rows[i].second);
  return out;
}

}  // namespace jarvis::sweep
