#include "rocprof/metrics/kernel_rows.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"
#include "perf/gemm_decode.h"

namespace jarvis::rocprof {
namespace {

using Refs = std::vector<DispatchRef>;

struct KernelKey {
  Config config;
  std::optional<std::int64_t> rank;
  std::uint32_t kernel = 0;
  std::int64_t grid = kUnknown;
  std::int64_t workgroup = kUnknown;
  std::size_t dispatch = 0;  // tells dispatches apart, if they are asked for

  friend auto operator<=>(const KernelKey&, const KernelKey&) = default;
};

std::vector<double> DurationsOf(const Refs& refs) {
  std::vector<double> durations;
  for (const DispatchRef& one : refs) {
    if (const auto ns = one.dispatch->duration_ns())
      durations.push_back(static_cast<double>(*ns) / 1000);
  }
  return durations;
}

void AddTimes(const Refs& refs, KernelRow* row) {
  const std::vector<double> durations = DurationsOf(refs);
  if (durations.empty()) return;
  const analysis::Moments moments = analysis::GroupMoments(durations);
  row->mean_us = moments.mean;
  row->median_us = moments.median;
  row->std_us = moments.std;
  row->min_us = moments.min;
  row->max_us = moments.max;
  row->total_us = moments.sum;
}

void AddResources(const Refs& refs, KernelRow* row) {
  for (const DispatchRef& one : refs) {
    const Dispatch& dispatch = *one.dispatch;
    row->lds = std::max(row->lds, dispatch.lds);
    row->scratch = std::max(row->scratch, dispatch.scratch);
    row->vgpr = std::max(row->vgpr, dispatch.vgpr);
    row->agpr = std::max(row->agpr, dispatch.agpr);
    row->sgpr = std::max(row->sgpr, dispatch.sgpr);
    if (!dispatch.counters.empty()) ++row->counted;
    if (one.agent() == nullptr) continue;
    const auto limit = LimitOf(dispatch, *one.agent());
    if (limit && (!row->limit || limit->waves_per_simd < row->limit->waves_per_simd))
      row->limit = limit;
  }
}

// The ranks' own means.
void AddSpread(const Refs& refs, KernelRow* row) {
  std::map<std::int64_t, Refs> ranks;
  for (const DispatchRef& one : refs) {
    if (const auto rank = one.process->RankOf(*one.dispatch)) ranks[*rank].push_back(one);
  }
  double sum = 0;
  double count = 0;
  for (const auto& [rank, own] : ranks) {
    const std::vector<double> durations = DurationsOf(own);
    if (durations.empty()) continue;
    const double mean = analysis::GroupMoments(durations).mean;
    if (!row->rank_mean_max_us || mean > *row->rank_mean_max_us) row->slowest_rank = rank;
    row->rank_mean_max_us = std::max(mean, row->rank_mean_max_us.value_or(mean));
    row->rank_mean_min_us = std::min(mean, row->rank_mean_min_us.value_or(mean));
    sum += mean;
    ++count;
  }
  if (count < 2) {
    row->rank_mean_min_us = row->rank_mean_max_us = std::nullopt;
    row->slowest_rank = std::nullopt;
  } else if (sum > 0) {
    row->rank_spread_pct = 100 * (*row->rank_mean_max_us - *row->rank_mean_min_us) / (sum / count);
  }
}

void AddShares(std::vector<KernelRow>* rows) {
  struct Total {
    double all = 0;
    double gemm = 0;
  };
  std::map<std::pair<Config, std::optional<std::int64_t>>, Total> totals;
  std::vector<bool> gemm(rows->size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const KernelRow& row = (*rows)[i];
    gemm[i] = perf::IsGemmKernel(row.kernel);
    Total& total = totals[{row.config, row.rank}];
    total.all += row.total_us.value_or(0);
    if (gemm[i]) total.gemm += row.total_us.value_or(0);
  }
  for (std::size_t i = 0; i < rows->size(); ++i) {
    KernelRow& row = (*rows)[i];
    const Total& total = totals[{row.config, row.rank}];
    if (row.total_us && total.all > 0) row.share_pct = 100 * *row.total_us / total.all;
    if (gemm[i] && row.total_us && total.gemm > 0)
      row.gemm_share_pct = 100 * *row.total_us / total.gemm;
  }
}

void AddChanges(std::vector<KernelRow>* rows) {
  using Same = std::tuple<std::string, std::int64_t, std::int64_t, std::optional<std::int64_t>>;
  std::map<Same, const KernelRow*> first;
  for (KernelRow& row : *rows) {
    if (!row.mean_us) continue;
    const auto [at, fresh] =
        first.try_emplace({row.kernel, row.grid, row.workgroup, row.rank}, &row);
    const KernelRow& base = *at->second;
    if (!fresh && base.config != row.config && *base.mean_us > 0)
      row.change_pct = 100 * (*row.mean_us - *base.mean_us) / *base.mean_us;
  }
}

}  // namespace

Result<std::vector<KernelRow>> KernelRows(const Capture& capture, const GroupOptions& options,
                                          Job& job) {
  std::vector<bool> wanted;
  for (const std::string& kernel : capture.kernels) {
    JV_ASSIGN(const bool takes, options.filter.Takes(kernel));
    wanted.push_back(takes);
  }
  const bool dispatches = options.by == GroupBy::kDispatch;
  std::map<KernelKey, Refs> groups;
  std::size_t number = 0;
  for (const Process& process : capture.processes) {
    for (const Dispatch& dispatch : process.dispatches) {
      if (++number % 65536 == 0) JV_TRY(job.Check());
      if (!wanted[dispatch.kernel]) continue;
      KernelKey key{process.config, {}, dispatch.kernel, kUnknown, kUnknown, 0};
      if (options.by_rank || dispatches) key.rank = process.RankOf(dispatch);
      if (options.by != GroupBy::kKernel) {
        key.grid = dispatch.grid;
        key.workgroup = dispatch.workgroup;
      }
      if (dispatches) key.dispatch = number;
      groups[key].push_back({&process, &dispatch});
    }
  }
  if (dispatches && groups.size() > kDispatchRowsMax) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("{} dispatches are more than the {} rows of a table", groups.size(),
                            kDispatchRowsMax),
                "name fewer kernels, or group by kernel_grid");
  }
  const MetricRules rules(capture, options.clock_mhz);
  std::vector<KernelRow> rows;
  rows.reserve(groups.size());
  for (const auto& [key, refs] : groups) {
    if (rows.size() % 1024 == 0) JV_TRY(job.Check());
    KernelRow row;
    row.config = key.config;
    row.rank = key.rank;
    row.kernel = capture.kernels[key.kernel];
    if (const auto name = perf::ParseTensileName(row.kernel)) row.label = name->label();
    row.grid = key.grid;
    row.workgroup = key.workgroup;
    if (dispatches && refs.front().dispatch->id != kUnknown)
      row.dispatch = refs.front().dispatch->id;
    row.count = refs.size();
    AddTimes(refs, &row);
    AddResources(refs, &row);
    if (!options.by_rank && !dispatches) AddSpread(refs, &row);
    row.metrics = rules.Of(refs, row.kernel);
    rows.push_back(std::move(row));
  }
  AddShares(&rows);
  if (!dispatches) AddChanges(&rows);
  std::stable_sort(rows.begin(), rows.end(), [&](const KernelRow& a, const KernelRow& b) {
    if (std::tie(a.config, a.rank) != std::tie(b.config, b.rank))
      return std::tie(a.config, a.rank) < std::tie(b.config, b.rank);
    if (dispatches) return a.dispatch < b.dispatch;
    return a.total_us.value_or(-1) > b.total_us.value_or(-1);
  });
  return rows;
}

}  // namespace jarvis::rocprof
