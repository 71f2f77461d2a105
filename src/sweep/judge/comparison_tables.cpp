#include "sweep/judge/comparison_tables.h"

#include <string>
#include <utility>
#include <vector>

namespace jarvis::sweep {
namespace {

const char* VerdictText(PageVerdict verdict) {
  switch (verdict) {
    case PageVerdict::kUnknown: return "";
    case PageVerdict::kBaseline: return "baseline";
    case PageVerdict::kNoise: return "within noise";
    case PageVerdict::kBetter: return "better";
    case PageVerdict::kWorse: return "worse";
  }
  return "";
}

Cell TextCell(const std::string& text) {
  return text.empty() ? Cell() : Cell(text);
}

}  // namespace

std::vector<Table> ComparisonTables(const ComparisonPage& page) {
  Table metrics{"sweep_comparison_metrics",
                {"metric", "unit", "config", "sweep", "mean", "worst_rank", "change_pct",
                 "behind_best_pct", "verdict", "interval"},
                {}};
  for (const PageMetric& metric : page.metrics) {
    for (const PageMetric::Row& row : metric.rows) {
      for (std::size_t s = 0; s < row.sweeps.size(); ++s) {
        const PageValue& value = row.sweeps[s];
        metrics.rows.push_back({metric.name, metric.unit, row.config, page.sweeps[s].label,
                                CellOf(value.mean), CellOf(value.worst), CellOf(value.change_pct),
                                CellOf(value.behind_best_pct), TextCell(VerdictText(value.verdict)),
                                TextCell(value.why)});
      }
    }
  }
  Table kernels{"sweep_comparison_kernels",
                {"sweep", "list", "op", "shapes", "kernel", "other_kernel", "base_us", "test_us",
                 "change_pct", "verdict", "interval"},
                {}};
  for (const PageKernelChanges& changes : page.kernels) {
    const std::pair<const char*, const PageKernelList*> lists[] = {
        {"regressed", &changes.regressed},
        {"improved", &changes.improved},
        {"selection changed", &changes.selection},
        {"only in baseline", &changes.only_base},
        {"only in test", &changes.only_test}};
    for (const auto& [name, list] : lists) {
      for (const PageKernel& kernel : list->kernels) {
        kernels.rows.push_back({page.sweeps[changes.sweep].label, std::string(name),
                                TextCell(kernel.op), TextCell(kernel.shapes), kernel.kernel,
                                TextCell(kernel.other_kernel), CellOf(kernel.base_us),
                                CellOf(kernel.test_us), CellOf(kernel.change_pct),
                                TextCell(VerdictText(kernel.verdict)), TextCell(kernel.why)});
      }
    }
  }
  Table collectives{"sweep_comparison_collectives",
                    {"operation", "message", "sweep", "count", "latency_us", "bus_bw_GB_s",
                     "latency_change_pct", "verdict"},
                    {}};
  for (const PageCollective& one : page.collectives) {
    for (std::size_t s = 0; s < one.sweeps.size(); ++s) {
      const PageCollective::Side& side = one.sweeps[s];
      collectives.rows.push_back({one.operation, one.message, page.sweeps[s].label,
                                  side.count ? Cell(*side.count) : Cell(), CellOf(side.latency_us),
                                  CellOf(side.bus_gbps), CellOf(side.latency_change_pct),
                                  TextCell(VerdictText(side.verdict))});
    }
  }
  return {std::move(metrics), std::move(kernels), std::move(collectives)};
}

}  // namespace jarvis::sweep
