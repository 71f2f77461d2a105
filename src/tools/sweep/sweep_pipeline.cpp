#include <algorithm>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "formats/json_parts.h"
#include "perf/gemm_decode.h"
#include "rocprof/job/yaml.h"
#include "rocprof/metrics/join_rows.h"
#include "rocprof/metrics/kernel_tables.h"
#include "rocprof/read/capture.h"
#include "sweep/judge/comms.h"
#include "table/column_place.h"
#include "tools/shared/arguments.h"
#include "tools/sweep/files.h"
#include "tools/sweep/parts.h"
#include "tools/sweep/sweep_tools.h"

namespace jarvis::tools {
namespace {

Result<SweepFileOptions> OptionsOf(const Json& arguments) {
  SweepFileOptions options;
  for (const Json& name : arguments.at("steps")) {
    const auto step = SweepStepOf(name.get<std::string>());
    if (!step) {
      return Fail(ErrorCode::kBadValue, fmt::format("steps: no step {}", name.dump()),
                  "report, gemm_variance, gpu_timeline, comms, plots");
    }
    options.steps.insert(*step);
  }
  if (options.steps.empty()) {
    options.steps = {SweepStep::kReport, SweepStep::kGemmVariance, SweepStep::kGpuTimeline,
                     SweepStep::kComms, SweepStep::kPlots};
  }
  options.top_k = arguments.at("top_k").get<std::size_t>();
  if (const auto aggregate = TextArgument(arguments, "aggregate")) {
    options.aggregates = {sweep::AggregateOf(*aggregate).value()};
  } else {
    options.aggregates = {sweep::Aggregate::kMean, sweep::Aggregate::kGeomean};
  }
  const auto format = arguments.at("format").get<std::string>();
  options.workbooks = format != "csv";
  options.tables = format != "xlsx";
  options.png = arguments.at("png").get<bool>();
  options.overwrite = MayOverwrite(arguments);
  return options;
}

std::string Headline(const sweep::SweepFacts& facts,
                     const std::vector<sweep::ConfigMetrics>& metrics) {
  std::size_t traces = 0;
  for (const sweep::ConfigFacts& config : facts.configs)
    traces += config.ranks.size();
  std::string text = fmt::format("{} traces of {} configurations", traces, metrics.size());
  const auto best =
      std::min_element(metrics.begin(), metrics.end(), [](const auto& a, const auto& b) {
        return a.step_ms.value_or(1e300) < b.step_ms.value_or(1e300);
      });
  if (best != metrics.end() && best->step_ms) {
    text += fmt::format("; best step time {:.3f} ms: {}", *best->step_ms,
                        facts.sweep.configs[best->config].label);
  }
  const std::string straggler = StragglerText(facts);
  if (!straggler.empty()) text += "; " + straggler;
  return text + ".";
}

void ConfigRows(const sweep::SweepFacts& facts, const std::vector<sweep::ConfigMetrics>& metrics,
                Answer* answer) {
  answer->columns = MetricColumns();
  for (const sweep::ConfigMetrics& one : metrics)
    answer->rows.push_back(MetricCells(facts, one));
}

void KernelRows(const sweep::SweepFacts& facts, sweep::RankBy by, std::size_t limit,
                Answer* answer) {
  const Table table = sweep::GemmKernelStability(facts);
  answer->columns = {"config",  "rank",     "op",      "kernel",       "count",
                     "mean_us", "range_us", "overlap", "slowdown_pct", "pearson_r"};
  const auto column = [&](const char* name) { return PlaceOf(table.columns, name); };
  std::vector<std::string> labels;  // by row of the table
  for (std::size_t c = 0; c < facts.configs.size(); ++c) {
    for (const sweep::RankFacts& rank : facts.configs[c].ranks)
      labels.insert(labels.end(), rank.gemms.size(), facts.sweep.configs[c].label);
  }
  for (const std::size_t r : sweep::LeastSteady(facts, by, limit)) {
    const auto& row = table.rows[r];
    const auto& kernel = std::get<std::string>(row[column("kernel_name")]);
    const auto decoded = perf::DecodeGemmKernel(kernel);
    answer->rows.push_back(
        {labels[r], row[column("rank")], row[column("op")],
         decoded && !decoded->label.empty() ? decoded->label : analysis::ShortKernelName(kernel),
         row[column("count")], row[column("mean_us")], row[column("range_us")],
         row[column("overlap_frac_mean")], row[column("slowdown_pct")], row[column("pearson_r")]});
  }
  answer->total = table.rows.size();
}

void OperationRows(const sweep::SweepFacts& facts, Answer* answer) {
  Table table = sweep::BestByOperation(facts);
  answer->columns = std::move(table.columns);
  answer->rows = std::move(table.rows);
}

Json StragglersJson(const sweep::SweepFacts& facts) {
  constexpr std::size_t kStragglersMax = 3;
  Json list = Json::array();
  for (const sweep::Straggler& one : sweep::Stragglers(facts, nullptr)) {
    if (list.size() == kStragglersMax) break;
    list.push_back({{"rank", one.rank},
                    {"arrived_last", one.arrived_last},
                    {"arrived_last_percent", formats::Number(one.last_share)},
                    {"wait_ms", formats::Number(one.wait_us / 1000)}});
  }
  return list;
}

// The next step for AMD's GPUs: a job for rocprofv3 that counts the kernels of the variance table.
Status AddRocprofJob(const sweep::SweepFacts& facts, const std::string& directory,
                     SweepFileOptions* options) {
  std::string device;
  for (const sweep::ConfigFacts& config : facts.configs) {
    if (!config.ranks.empty()) device = config.ranks.front().device;
  }
  if (!options->steps.contains(SweepStep::kGemmVariance) || !ContainsNoCase(device, "amd"))
    return {};
  rocprof::YamlOptions job;
  std::set<std::string> kernels;
  for (const sweep::VarianceRow& row : sweep::VarianceRows(facts, options->top_k))
    kernels.insert(row.kernel);
  if (kernels.empty()) return {};
  job.kernels.assign(kernels.begin(), kernels.end());
  job.match = facts.reference_compat ? rocprof::Match::kShort : rocprof::Match::kExact;
  job.source = directory + "/top5_gemm_kernels_time_variance.csv";
  if (ContainsNoCase(device, "mi2")) job.arch = "gfx90a";
  if (ContainsNoCase(device, "mi35")) job.arch = "gfx950";
  JV_ASSIGN(rocprof::YamlFile file, rocprof::MakeYaml(job));
  options->texts.push_back(
      {"rocprof_top5_kernels.yaml", "configuration: rocprofv3 -i FILE", std::move(file.yaml)});
  options->texts.push_back(
      {"rocprof_top5_kernels_kernel_list.txt", "its kernels", std::move(file.kernel_list)});
  return {};
}

// Counters of rocprofv3 beside the variance table, where some runs have them.
Status AddCounters(const session::Workspace& workspace, Job& job, sweep::SweepFacts* facts,
                   SweepFileOptions* options) {
  const auto& configs = facts->sweep.configs;
  if (!options->steps.contains(SweepStep::kGemmVariance) || facts->reference_compat ||
      std::none_of(configs.begin(), configs.end(), [](const auto& one) { return one.rocprof; })) {
    return {};
  }
  JV_ASSIGN(const rocprof::Capture capture,
            rocprof::ReadCapture(workspace.files(), facts->sweep.path,
                                 {.threads = workspace.options().threads}, job));
  facts->warnings.insert(facts->warnings.end(), capture.warnings.begin(), capture.warnings.end());
  rocprof::GroupOptions by_rank;
  by_rank.by_rank = true;
  JV_ASSIGN(const auto rows, rocprof::KernelRows(capture, by_rank, job));
  options->more.push_back(rocprof::KernelTable(rows, "rocprof_kernels", by_rank));
  Table variance = std::move(sweep::VarianceTables(*facts, options->top_k).front());
  std::replace(variance.columns.begin(), variance.columns.end(), std::string("channel"),
               std::string("channels"));
  JV_ASSIGN(Table joined, rocprof::JoinWithRows(variance, capture, by_rank, job));
  joined.name = "top5_gemm_kernels_with_rocprof";
  options->more.push_back(std::move(joined));
  return {};
}

}  // namespace

Result<Answer> SweepPipeline(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(SweepFileOptions options, OptionsOf(arguments));
  JV_ASSIGN(sweep::SweepFacts facts, MeasureSweepOf(workspace, arguments, job));
  JV_TRY(AddCounters(workspace, job, &facts, &options));
  JV_ASSIGN(const std::string directory, SweepOutput(workspace, arguments, facts.sweep));
  JV_TRY(AddRocprofJob(facts, directory, &options));
  Answer answer;
  const std::vector<sweep::ConfigMetrics> metrics = sweep::MetricsOfConfigs(facts);
  answer.summary = Headline(facts, metrics);
  if (options.steps == std::set{SweepStep::kGemmVariance}) {
    const auto by = sweep::RankByOf(arguments.at("rank_by").get<std::string>());
    KernelRows(facts, by.value(), arguments.at("limit").get<std::size_t>(), &answer);
  } else if (options.steps == std::set{SweepStep::kComms}) {
    OperationRows(facts, &answer);
  } else {
    ConfigRows(facts, metrics, &answer);
    answer.notes.emplace_back(
        "step_ms is of the slowest rank, other times are means over ranks; gemm_slow_pct: launches "
        "over 50 % below a collective against those under 5 %");
  }
  answer.total = std::max<std::uint64_t>(answer.total, answer.rows.size());
  answer.facts = {{"complete", facts.complete()},
                  {"output_dir", directory},
                  {"stragglers", StragglersJson(facts)},
                  {"warnings", WarningsJson(facts.warnings)}};
  JV_TRY(WriteSweepFiles(workspace, facts, directory, options, job, &answer));
  AddMoreWarnings(facts.warnings, "sweep_warnings.csv", &answer);
  answer.next = {
      {"sweep_recommend", {{"sweep_dir", facts.sweep.path}}, "which configuration, how sure"}};
  return answer;
}

}  // namespace jarvis::tools
