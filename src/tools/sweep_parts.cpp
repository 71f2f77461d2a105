#include "tools/sweep_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "output/number_format.h"
#include "sweep/comms.h"
#include "sweep/measure.h"
#include "tools/json_parts.h"

namespace jarvis::tools {
namespace {

// An answer has both, in one budget.
constexpr std::size_t kWarningsMax = 8;
constexpr std::size_t kNotesMax = 4;
constexpr std::size_t kMessageMax = 160;  // characters
constexpr std::size_t kNoteMax = 100;

std::string Shown(const std::string& text, std::size_t characters) {
  const std::string line = OneLine(ValidUtf8(text));
  const std::string_view cut = Utf8Characters(line, characters);
  return std::string(cut) + (cut.size() < line.size() ? "..." : "");
}

}  // namespace

Result<sweep::SweepFacts> MeasureSweepOf(const engine::Workspace& workspace, const Json& arguments,
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

Json WarningsJson(const std::vector<sweep::Warning>& warnings) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(warnings.size(), kWarningsMax); ++i) {
    const sweep::Warning& one = warnings[i];
    list.push_back({{"config", TextOrNull(one.config)},
                    {"rank", one.rank ? Json(*one.rank) : Json(nullptr)},
                    {"file", TextOrNull(ValidUtf8(one.file))},
                    {"code", one.code},
                    {"message", Shown(one.message, kMessageMax)}});
  }
  return list;
}

Table WarningsTable(const std::vector<sweep::Warning>& warnings) {
  Table table{"sweep_warnings", {"config", "rank", "file", "code", "message"}, {}};
  const auto text = [](const std::string& value) { return value.empty() ? Cell() : Cell(value); };
  for (const sweep::Warning& one : warnings) {
    table.rows.push_back({text(one.config), one.rank ? Cell(*one.rank) : Cell(), text(one.file),
                          one.code, one.message});
  }
  return table;
}

void AddWarningNotes(const std::vector<sweep::Warning>& warnings, Answer* answer) {
  for (std::size_t i = 0; i < std::min(warnings.size(), kNotesMax); ++i) {
    const sweep::Warning& one = warnings[i];
    answer->notes.push_back(fmt::format(
        "[{}] {}{}{}", one.code, one.config.empty() ? "" : one.config + ": ",
        one.file.empty() ? "" : ValidUtf8(one.file.substr(one.file.rfind('/') + 1)) + " ",
        Shown(one.message, kNoteMax)));
  }
  if (warnings.size() > kNotesMax) {
    answer->notes.push_back(
        fmt::format("{} further warnings: see sweep_warnings.csv", warnings.size() - kNotesMax));
  }
}

Result<std::string> SweepOutput(const engine::Workspace& workspace, const Json& arguments,
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
