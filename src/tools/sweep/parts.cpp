#include "tools/sweep/parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "sweep/judge/comms.h"
#include "sweep/measure/measure.h"

namespace jarvis::tools {
Result<sweep::SweepFacts> MeasureSweepOf(const session::Workspace& workspace, const Json& arguments,
                                         Job& job, bool tables) {
  const io::FilePolicy& files = workspace.files();
  JV_ASSIGN(sweep::Sweep scanned,
            sweep::ScanSweep(files, arguments.at("sweep_dir").get<std::string>()));
  sweep::MeasureOptions options;
  options.threads = workspace.options().threads;
  options.trace_bytes_max = workspace.options().trace_bytes_max;
  options.tables = tables;
  options.reference_compat = arguments.value("reference_compat", false);
  options.configs = arguments.value("configs", std::vector<std::string>());
  options.ranks = arguments.value("ranks", std::vector<std::int64_t>());
  return sweep::MeasureSweep(files, std::move(scanned), options, job);
}

Result<std::string> SweepOutput(const session::Workspace& workspace, const Json& arguments,
                                const sweep::Sweep& sweep) {
  const io::FilePolicy& files = workspace.files();
  if (const auto given = TextArgument(arguments, "output_dir")) return files.ResolveOutput(*given);
  auto beside = files.ResolveOutput(sweep.path + "/tracelens_analysis");
  if (beside) return beside;
  return files.ResolveOutput(files.DefaultOutput("sweep_" + sweep.name));
}

std::vector<std::string> MetricColumns() {
  return {"config",        "ranks",   "step_ms",       "computation_ms", "exposed_comm_ms",
          "comm_total_ms", "gemm_us", "gemm_slow_pct", "gemm_range_us"};
}

std::vector<Cell> MetricCells(const sweep::SweepFacts& facts, const sweep::ConfigMetrics& metrics) {
  return {facts.sweep.configs[metrics.config].label,
          static_cast<std::int64_t>(metrics.ranks),
          CellOf(metrics.step_ms),
          CellOf(metrics.computation_ms),
          CellOf(metrics.exposed_comm_ms),
          CellOf(metrics.comm_latency_ms),
          CellOf(metrics.gemm_us),
          CellOf(metrics.slowdown_percent),
          CellOf(metrics.range_us)};
}

std::string StragglerText(const sweep::SweepFacts& facts) {
  const auto list = sweep::Stragglers(facts, nullptr);
  if (list.size() < 2) return {};
  return fmt::format("rank {} arrives last in {:.0f} % of the collectives", list.front().rank,
                     list.front().last_share);
}

}  // namespace jarvis::tools
