#include "rocprof/metrics/kernel_tables.h"

#include <functional>

namespace jarvis::rocprof {
namespace {

Cell Known(std::int64_t value) {
  return value == kUnknown ? Cell() : Cell(value);
}
Cell Maybe(const std::optional<std::int64_t>& value) {
  return value ? Cell(*value) : Cell();
}
Cell TextOrAbsent(std::string_view text) {
  return text.empty() ? Cell() : Cell(std::string(text));
}

struct Column {
  const char* name;
  std::function<Cell(const KernelRow&)> cell;
};

Cell Variation(const KernelRow& row) {
  if (!row.std_us || !row.mean_us || !(*row.mean_us > 0)) return {};
  return *row.std_us / *row.mean_us;
}

// A utilisation under its name only where its cycles were counted.
Cell Utilisation(const KernelRow& row, bool counted) {
  return (row.metrics.cycles == Cycles::kGrbm) == counted ? CellOf(row.metrics.cu_util_pct)
                                                          : Cell();
}

const std::vector<Column>& MetricColumns() {
  using Row = KernelRow;
  static const std::vector<Column> columns = {
      {"cycles_source", [](const Row& r) { return TextOrAbsent(CyclesText(r.metrics.cycles)); }},
      {"cu_util_pct", [](const Row& r) { return Utilisation(r, true); }},
      {"cu_util_pct_est", [](const Row& r) { return Utilisation(r, false); }},
      {"cu_util_min_pct", [](const Row& r) { return CellOf(r.metrics.cu_util_min_pct); }},
      {"cu_util_max_pct", [](const Row& r) { return CellOf(r.metrics.cu_util_max_pct); }},
      {"occupancy_pct", [](const Row& r) { return CellOf(r.metrics.occupancy_pct); }},
      {"waves_per_cu", [](const Row& r) { return CellOf(r.metrics.waves_per_cu); }},
      {"mean_wave_cycles", [](const Row& r) { return CellOf(r.metrics.wave_cycles); }},
      {"waves_per_dispatch", [](const Row& r) { return CellOf(r.metrics.waves); }},
      {"mfma_per_wave", [](const Row& r) { return CellOf(r.metrics.mfma_per_wave); }},
      {"valu_per_wave", [](const Row& r) { return CellOf(r.metrics.valu_per_wave); }},
      {"mfma_share_pct", [](const Row& r) { return CellOf(r.metrics.mfma_share_pct); }},
      {"mfma_util_pct", [](const Row& r) { return CellOf(r.metrics.mfma_util_pct); }},
      {"se_busy_pct", [](const Row& r) { return CellOf(r.metrics.se_busy_pct); }},
      {"mfma_flop", [](const Row& r) { return CellOf(r.metrics.mfma_flop); }},
      {"mfma_flop_est", [](const Row& r) { return CellOf(r.metrics.mfma_flop_est); }},
      {"lds_bytes", [](const Row& r) { return Known(r.lds); }},
      {"scratch_bytes", [](const Row& r) { return Known(r.scratch); }},
      {"vgpr", [](const Row& r) { return Known(r.vgpr); }},
      {"agpr", [](const Row& r) { return Known(r.agpr); }},
      {"sgpr", [](const Row& r) { return Known(r.sgpr); }},
      {"waves_per_simd_limit",
       [](const Row& r) { return r.limit ? Cell(r.limit->waves_per_simd) : Cell(); }},
      {"limited_by",
       [](const Row& r) { return r.limit ? TextOrAbsent(r.limit->limiter) : Cell(); }},
      {"spills", [](const Row& r) { return r.scratch == kUnknown ? Cell() : Cell(r.scratch > 0); }},
  };
  return columns;
}

std::vector<Column> ColumnsFor(const GroupOptions& options) {
  using Row = KernelRow;
  const bool dispatches = options.by == GroupBy::kDispatch;
  std::vector<Column> columns = {
      {"config", [](const Row& r) { return TextOrAbsent(r.config.name()); }},
      {"threads", [](const Row& r) { return Maybe(r.config.threads); }},
      {"channels", [](const Row& r) { return Maybe(r.config.channels); }},
  };
  const auto add = [&](const char* name, std::function<Cell(const Row&)> cell) {
    columns.push_back({name, std::move(cell)});
  };
  if (options.by_rank || dispatches) add("rank", [](const Row& r) { return Maybe(r.rank); });
  add("kernel_name", [](const Row& r) { return Cell(r.kernel); });
  add("label", [](const Row& r) { return TextOrAbsent(r.label); });
  if (options.by != GroupBy::kKernel) {
    add("grid_size", [](const Row& r) { return Known(r.grid); });
    add("workgroup_size", [](const Row& r) { return Known(r.workgroup); });
    add("workgroups", [](const Row& r) { return Maybe(r.workgroups()); });
  }
  if (dispatches) {
    add("dispatch_id", [](const Row& r) { return Maybe(r.dispatch); });
    add("duration_us", [](const Row& r) { return CellOf(r.total_us); });
  } else {
    add("count", [](const Row& r) { return Cell(static_cast<std::int64_t>(r.count)); });
    add("counted", [](const Row& r) { return Cell(static_cast<std::int64_t>(r.counted)); });
    add("mean_us", [](const Row& r) { return CellOf(r.mean_us); });
    add("median_us", [](const Row& r) { return CellOf(r.median_us); });
    add("std_us", [](const Row& r) { return CellOf(r.std_us); });
    add("cv", Variation);
    add("min_us", [](const Row& r) { return CellOf(r.min_us); });
    add("max_us", [](const Row& r) { return CellOf(r.max_us); });
    add("total_us", [](const Row& r) { return CellOf(r.total_us); });
  }
  add("share_pct", [](const Row& r) { return CellOf(r.share_pct); });
  add("gemm_share_pct", [](const Row& r) { return CellOf(r.gemm_share_pct); });
  columns.insert(columns.end(), MetricColumns().begin(), MetricColumns().end());
  if (!options.by_rank && !dispatches) {
    add("rank_mean_us_min", [](const Row& r) { return CellOf(r.rank_mean_min_us); });
    add("rank_mean_us_max", [](const Row& r) { return CellOf(r.rank_mean_max_us); });
    add("rank_spread_pct", [](const Row& r) { return CellOf(r.rank_spread_pct); });
    add("slowest_rank", [](const Row& r) { return Maybe(r.slowest_rank); });
  }
  if (!dispatches) add("mean_us_change_pct", [](const Row& r) { return CellOf(r.change_pct); });
  return columns;
}

}  // namespace

Table KernelTable(const std::vector<KernelRow>& rows, const std::string& name,
                  const GroupOptions& options) {
  const std::vector<Column> columns = ColumnsFor(options);
  Table table{name, {}, {}};
  for (const Column& column : columns)
    table.columns.emplace_back(column.name);
  table.rows.reserve(rows.size());
  for (const KernelRow& row : rows) {
    std::vector<Cell> cells;
    cells.reserve(columns.size());
    for (const Column& column : columns)
      cells.push_back(column.cell(row));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table AgentTable(const Capture& capture) {
  Table table{"rocprof_agents",
              {"config", "host", "rank", "rank_source", "process_id", "agent", "type", "name",
               "product", "node_id", "logical_node_id", "cu_count", "xccs", "waves_per_cu",
               "waves_per_simd", "lds_kib", "max_clock_mhz", "dispatches"},
              {}};
  for (const Process& process : capture.processes) {
    std::vector<std::int64_t> dispatches(process.agents.size());
    for (const Dispatch& one : process.dispatches) {
      if (one.agent >= 0) ++dispatches[static_cast<std::size_t>(one.agent)];
    }
    for (std::size_t i = 0; i < process.agents.size(); ++i) {
      const Agent& agent = process.agents[i];
      table.rows.push_back({TextOrAbsent(process.config.name()), TextOrAbsent(process.host),
                            Maybe(process.rank), TextOrAbsent(process.rank_source),
                            Maybe(process.pid), Known(agent.type_index),
                            std::string(agent.gpu ? "GPU" : "CPU"), TextOrAbsent(agent.name),
                            TextOrAbsent(agent.product), Known(agent.node_id),
                            Known(agent.logical_id), Known(agent.cus), Known(agent.xccs),
                            Known(agent.waves_per_cu), Known(agent.waves_per_simd),
                            Known(agent.lds_kib), Known(agent.clock_mhz), dispatches[i]});
    }
  }
  return table;
}

Table StatsTable(const Capture& capture) {
  Table table{"rocprof_stats",
              {"config", "rank", "of", "name", "calls", "total_us", "mean_us", "min_us", "max_us"},
              {}};
  const auto us = [](const std::optional<double>& ns) { return ns ? Cell(*ns / 1000) : Cell(); };
  for (const Process& process : capture.processes) {
    for (const KernelStats& one : process.stats) {
      const auto total = static_cast<double>(one.total_ns);
      table.rows.push_back(
          {TextOrAbsent(process.config.name()), Maybe(process.rank),
           std::string(one.domain ? "domain" : "kernel"), one.name, one.calls, total / 1000,
           one.calls > 0 ? Cell(total / 1000 / static_cast<double>(one.calls)) : Cell(),
           us(one.min_ns), us(one.max_ns)});
    }
  }
  return table;
}

}  // namespace jarvis::rocprof
