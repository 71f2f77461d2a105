#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "io/output_folder.h"
#include "output/number_format.h"
#include "rocprof/metrics/kernel_rows.h"
#include "rocprof/metrics/kernel_tables.h"
#include "rocprof/read/capture.h"
#include "tools/rocprof/parts.h"
#include "tools/rocprof/report_files.h"
#include "tools/rocprof/rocprof_tools.h"
#include "tools/shared/arguments.h"
#include "tools/shared/part_warnings.h"
#include "tools/shared/rank_files.h"
#include "tools/shared/table_files.h"

namespace jarvis::tools {
namespace {

using rocprof::Capture;
using rocprof::GroupBy;
using rocprof::KernelRow;

Result<rocprof::GroupOptions> OptionsOf(const Json& arguments) {
  rocprof::GroupOptions options;
  const auto by = arguments.at("group_by").get<std::string>();
  options.by = by == "kernel"     ? GroupBy::kKernel
               : by == "dispatch" ? GroupBy::kDispatch
                                  : GroupBy::kKernelGrid;
  if (arguments.contains("clock_mhz")) {
    options.clock_mhz = arguments.at("clock_mhz").get<double>();
    if (!(*options.clock_mhz > 0) || *options.clock_mhz > 100'000) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("clock_mhz: expected an engine clock in MHz, received {}",
                              *options.clock_mhz));
    }
  }
  JV_ASSIGN(options.filter,
            rocprof::KernelFilter::Make(TextArgument(arguments, "kernel_regex").value_or("")));
  return options;
}

// Of which GPUs there are, one entry per kind.
Json Gpus(const Capture& capture) {
  std::set<std::string> seen;
  Json list = Json::array();
  for (const rocprof::Process& process : capture.processes) {
    for (const rocprof::Agent& agent : process.agents) {
      const Json one = {{"name", agent.name},
                        {"product", agent.product},
                        {"cus", agent.cus},
                        {"xccs", agent.xccs},
                        {"waves_per_cu", agent.waves_per_cu},
                        {"max_clock_mhz", agent.clock_mhz}};
      if (!agent.gpu || !seen.insert(one.dump()).second || list.size() == 4) continue;
      list.push_back(one);
      for (auto& value : list.back()) {
        if (value == Json(rocprof::kUnknown)) value = nullptr;
      }
    }
  }
  return list;
}

struct Seen {
  std::set<std::string> configs;
  std::set<std::int64_t> ranks;
  std::uint64_t dispatches = 0;
  std::uint64_t counted = 0;
};

Seen Overview(const Capture& capture) {
  Seen seen;
  for (const rocprof::Process& process : capture.processes) {
    seen.configs.insert(process.config.name());
    if (process.rank) seen.ranks.insert(*process.rank);
    for (const rocprof::Dispatch& dispatch : process.dispatches) {
      ++seen.dispatches;
      if (!dispatch.counters.empty()) ++seen.counted;
      if (const auto rank = process.RankOf(dispatch)) seen.ranks.insert(*rank);
    }
  }
  return seen;
}

void AddNotes(const Capture& capture, const Seen& seen, const std::vector<KernelRow>& rows,
              Answer* answer) {
  if (seen.dispatches == 0) return;
  if (seen.counted > 0) {
    answer->notes.emplace_back(
        "counter collection runs one kernel at a time: these are times of undisturbed kernels, not "
        "evidence about overlap or variance; collectives are slow or hang under it");
  } else {
    answer->notes.emplace_back(
        "no counters: times alone. Add them with rocprof_yaml; stats collects timing only");
  }
  const auto estimated = [](const KernelRow& row) {
    return row.metrics.cu_util_pct && row.metrics.cycles != rocprof::Cycles::kGrbm;
  };
  if (std::any_of(rows.begin(), rows.end(), estimated)) {
    answer->notes.emplace_back(
        "cu_util_pct_est and the other shares of those rows take the clock for constant, since "
        "GRBM_GUI_ACTIVE was not collected: at the highest clock they are lower bounds");
  }
  if (capture.passes > 1) {
    answer->notes.push_back(fmt::format(
        "{} passes are separate executions: {} dispatches were joined by rank, kernel, grid and "
        "occurrence, {} found no partner",
        capture.passes, capture.joined, capture.unjoined));
  }
  const auto spilling =
      std::count_if(rows.begin(), rows.end(), [](const KernelRow& row) { return row.scratch > 0; });
  if (spilling > 0) {
    answer->notes.push_back(
        fmt::format("{} rows use scratch memory: registers spill to memory", spilling));
  }
}

void AddRows(std::vector<KernelRow> rows, const rocprof::GroupOptions& options, std::size_t limit,
             Answer* answer) {
  const bool dispatches = options.by == GroupBy::kDispatch;
  if (!dispatches) {
    std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
      return a.total_us.value_or(-1) > b.total_us.value_or(-1);
    });
  }
  answer->total = rows.size();
  rows.resize(std::min(rows.size(), limit));
  for (KernelRow& row : rows)
    row.kernel = ShownKernel(row);
  const Table table = rocprof::KernelTable(rows, "", options);
  std::vector<std::string> shown = {"config", "kernel_name", "grid_size"};
  if (dispatches) {
    shown.insert(shown.end(), {"rank", "dispatch_id", "duration_us"});
  } else {
    shown.insert(shown.end(), {"count", "mean_us", "share_pct"});
  }
  shown.insert(shown.end(), {"cu_util_pct", "cu_util_pct_est", "occupancy_pct", "mfma_per_wave",
                             "waves_per_simd_limit", "limited_by"});
  if (!dispatches) shown.insert(shown.end(), {"rank_spread_pct", "slowest_rank"});
  ShowColumns(table, shown, answer);
}

// Where nothing but statistics was recorded, those.
void AddStats(const Capture& capture, std::size_t limit, Answer* answer) {
  Table table = rocprof::StatsTable(capture);
  if (table.rows.empty()) return;
  answer->notes.emplace_back("statistics files alone: timing, no counters and no launches");
  answer->total = table.rows.size();
  table.rows.resize(std::min(table.rows.size(), limit));
  ShowColumns(table, table.columns, answer);
}

}  // namespace

Result<Answer> RocprofCounters(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const rocprof::GroupOptions options, OptionsOf(arguments));
  std::optional<std::string> directory;
  if (arguments.contains("output_dir")) {
    JV_ASSIGN(directory, OutputDirectory(workspace, arguments, "rocprof"));
  }
  JV_ASSIGN(const Capture capture,
            rocprof::ReadCapture(workspace.files(), arguments.at("path").get<std::string>(),
                                 {.threads = workspace.options().threads}, job));
  const auto reports = arguments.value("reports", std::string("none"));
  if (reports != "none" && !directory) {
    return Fail(ErrorCode::kBadValue, "reports are files: give output_dir");
  }
  JV_ASSIGN(std::vector<KernelRow> rows, rocprof::KernelRows(capture, options, job));
  const Seen seen = Overview(capture);
  Answer answer;
  answer.summary = fmt::format(
      "{} dispatches of {} kernels on {} ranks in {} configurations, {} of them with counters.",
      seen.dispatches, capture.kernels.size(), seen.ranks.size(), seen.configs.size(),
      seen.counted);
  answer.facts = Json::object();
  answer.facts["complete"] = capture.complete;
  constexpr std::size_t kCountersShown = 40;
  answer.facts["counters"] = std::vector<std::string>(
      capture.counters.begin(),
      capture.counters.begin() +
          static_cast<std::ptrdiff_t>(std::min(capture.counters.size(), kCountersShown)));
  answer.facts["gpus"] = Gpus(capture);
  answer.facts["passes"] = capture.passes;
  answer.facts["warnings"] = WarningsJson(capture.warnings);
  AddNotes(capture, seen, rows, &answer);
  if (directory) {
    std::vector<Table> tables;
    const bool dispatches = options.by == GroupBy::kDispatch;
    tables.push_back(
        rocprof::KernelTable(rows, dispatches ? "rocprof_dispatches" : "rocprof_kernels", options));
    if (!dispatches) {
      rocprof::GroupOptions by_rank = options;
      by_rank.by_rank = true;
      JV_ASSIGN(const auto own, rocprof::KernelRows(capture, by_rank, job));
      tables.push_back(rocprof::KernelTable(own, "rocprof_kernels_by_rank", by_rank));
    }
    tables.push_back(rocprof::AgentTable(capture));
    Table stats = rocprof::StatsTable(capture);
    if (!stats.rows.empty()) tables.push_back(std::move(stats));
    if (!capture.warnings.empty())
      tables.push_back(WarningsTable("rocprof_warnings", capture.warnings));
    JV_TRY(WriteTableFolder(workspace.files(), *directory, tables, MayOverwrite(arguments), job,
                            &answer));
  }
  if (reports != "none") {
    // The documents know more of a run than the tables do.
    JV_ASSIGN(
        const Capture documents,
        rocprof::ReadCapture(workspace.files(), arguments.at("path").get<std::string>(),
                             {.threads = workspace.options().threads, .prefer_json = true}, job));
    JV_TRY(WriteRocprofReports(workspace.files(), documents, *directory, reports == "tracelens",
                               MayOverwrite(arguments), job, &answer));
  }
  const auto limit = static_cast<std::size_t>(arguments.at("limit").get<std::int64_t>());
  if (seen.dispatches == 0) {
    AddStats(capture, limit, &answer);
  } else {
    AddRows(std::move(rows), options, limit, &answer);
  }
  return answer;
}

}  // namespace jarvis::tools
