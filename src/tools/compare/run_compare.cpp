#include "tools/compare/run_compare.h"

#include <filesystem>

#include <fmt/format.h>

#include "io/output_folder.h"
#include "sweep/draw/single_plots.h"
#include "sweep/judge/compare_runs.h"
#include "sweep/judge/single_data.h"
#include "sweep/measure/measure.h"
#include "tools/shared/arguments.h"
#include "tools/shared/table_files.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kRunsMax = 16;
constexpr const char* kBook = "runs_comparison.xlsx";
constexpr const char* kPage = "runs_comparison.html";

// What a run is called that nobody named: its directory, with the one above for "nccl_28channels".
std::string LabelOf(const std::string& given) {
  std::filesystem::path path = std::filesystem::path(given).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  if (path.filename() == "torch_profiler") path = path.parent_path();
  const std::string name = path.filename().string();
  const std::string above = path.parent_path().filename().string();
  return name.starts_with("nccl_") && !above.empty() ? above + "_" + name : name;
}

Result<std::vector<std::string>> LabelsOf(const Json& arguments) {
  const auto runs = arguments.at("runs").get<std::vector<std::string>>();
  auto labels = arguments.value("labels", std::vector<std::string>());
  if (runs.size() < 2 || runs.size() > kRunsMax) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("runs: expected 2 to {} directories, the baseline first", kRunsMax));
  }
  if (!labels.empty() && labels.size() != runs.size()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("{} labels for {} runs", labels.size(), runs.size()));
  }
  for (std::size_t i = labels.size(); i < runs.size(); ++i)
    labels.push_back(LabelOf(runs[i]));
  return sweep::DifferentLabels(std::move(labels));
}

}  // namespace

Result<Answer> RunCompare(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const std::vector<std::string> labels, LabelsOf(arguments));
  const io::FilePolicy& files = workspace.files();
  sweep::MeasureOptions options;
  options.trace_bytes_max = workspace.options().trace_bytes_max;
  options.reference_compat = arguments.at("reference_compat").get<bool>();
  std::vector<sweep::SweepFacts> facts;
  Answer answer;
  bool complete = true;
  for (const Json& given : arguments.at("runs")) {
    JV_ASSIGN(sweep::Sweep scanned, sweep::ScanRun(files, given.get<std::string>()));
    JV_ASSIGN(sweep::SweepFacts measured,
              sweep::MeasureSweep(files, std::move(scanned), options, job));
    for (const sweep::Warning& warning : measured.warnings) {
      answer.notes.push_back(
          fmt::format("[{}] {}: {}", warning.code, labels[facts.size()], warning.message));
    }
    complete = complete && measured.complete();
    facts.push_back(std::move(measured));
  }
  std::vector<sweep::NamedRun> runs;
  for (std::size_t i = 0; i < facts.size(); ++i)
    runs.push_back({labels[i], &facts[i]});
  std::vector<Table> tables = sweep::CompareRuns(runs, arguments.at("threshold_pct").get<double>());
  answer.columns = tables.front().columns;
  answer.rows = tables.front().rows;
  answer.total = answer.rows.size();
  answer.summary = fmt::format("{} runs against {}; change_pct is (run - baseline) / baseline.",
                               runs.size() - 1, labels.front());
  answer.facts = {{"complete", complete}, {"baseline", labels.front()}, {"labels", labels}};
  if (const auto output = TextArgument(arguments, "output_dir")) {
    if (options.reference_compat) tables = sweep::ReferenceSheets(runs);
    JV_ASSIGN(const std::string directory, files.ResolveOutput(*output));
    JV_ASSIGN(const auto folder, io::OutputFolder::Open(files, directory, job));
    sweep::SinglePage page;
    page.runs = sweep::SingleRunsOf(runs);
    page.threshold_pct = arguments.at("threshold_pct").get<double>();
    const std::vector<sweep::SweepPlot> plots = sweep::MakeSinglePlots(page.runs);
    std::vector<std::string> names = {kBook, kPage};
    for (const Table& table : tables)
      names.push_back(table.name + ".csv");
    for (const sweep::SweepPlot& plot : plots)
      names.push_back("plots/" + plot.name + ".svg");
    JV_TRY(folder->Claim(names, MayOverwrite(arguments)));
    JV_ASSIGN(std::string path, folder->Write(kPage, sweep::RenderSinglePage(page)));
    answer.files.push_back({std::move(path), "the comparison, for a browser", 0});
    for (const sweep::SweepPlot& plot : plots)
      JV_TRY(folder->Write("plots/" + plot.name + ".svg", output::RenderSheet(plot.sheet)));
    JV_TRY(WriteTables(tables, *folder, *folder, kBook, &answer));
    JV_TRY(folder->Commit());
  }
  return answer;
}

}  // namespace jarvis::tools
