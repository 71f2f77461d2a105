#include <algorithm>

#include <fmt/format.h>

#include "formats/json_parts.h"
#include "sweep/judge/compare_sweeps.h"
#include "sweep/judge/comparison_tables.h"
#include "sweep/measure/measure.h"
#include "tools/shared/arguments.h"
#include "tools/shared/table_files.h"
#include "tools/sweep/parts.h"
#include "tools/sweep/sweep_tools.h"

namespace jarvis::tools {
namespace {

bool DoesOtherWork(const sweep::PageSweep& one) {
  return std::any_of(one.warnings.begin(), one.warnings.end(),
                     [](const auto& warning) { return warning.code == "WORK_DIFFERS"; });
}

constexpr const char* kPage = "sweep_comparison.html";

// Of each sweep: as given, else the directory's name; told apart by numbers.
Result<std::vector<std::string>> LabelsOf(const Json& arguments,
                                          const std::vector<sweep::SweepFacts>& sweeps) {
  const auto given = arguments.value("labels", std::vector<std::string>());
  if (!given.empty() && given.size() != sweeps.size()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("labels: {} for {} sweeps", given.size(), sweeps.size()),
                "give one a sweep, or none");
  }
  std::vector<std::string> labels;
  for (std::size_t s = 0; s < sweeps.size(); ++s) {
    const std::string wanted = given.empty() ? sweeps[s].sweep.name : given[s];
    std::string label = wanted;
    for (int n = 2; std::find(labels.begin(), labels.end(), label) != labels.end(); ++n)
      label = fmt::format("{} ({})", wanted, n);
    labels.push_back(std::move(label));
  }
  return labels;
}

// The metric that the answer shows; the others are in the files.
void AddRows(const sweep::ComparisonPage& page, Answer* answer) {
  answer->columns = {"metric", "config"};
  for (const sweep::PageSweep& one : page.sweeps)
    answer->columns.push_back(one.label);
  for (std::size_t s = 0; s < page.sweeps.size(); ++s) {
    if (s == page.baseline) continue;
    answer->columns.push_back(page.sweeps[s].label + "_change_pct");
    answer->columns.push_back(page.sweeps[s].label + "_verdict");
  }
  const auto verdict = [](sweep::PageVerdict one) -> Cell {
    switch (one) {
      case sweep::PageVerdict::kNoise: return std::string("noise");
      case sweep::PageVerdict::kBetter: return std::string("better");
      case sweep::PageVerdict::kWorse: return std::string("worse");
      case sweep::PageVerdict::kBaseline:
      case sweep::PageVerdict::kUnknown: break;
    }
    return Cell();
  };
  for (const sweep::PageMetric& metric : page.metrics) {
    for (const sweep::PageMetric::Row& row : metric.rows) {
      std::vector<Cell> cells = {fmt::format("{} ({})", metric.name, metric.unit), row.config};
      for (const sweep::PageValue& value : row.sweeps)
        cells.push_back(CellOf(value.mean));
      for (std::size_t s = 0; s < row.sweeps.size(); ++s) {
        if (s == page.baseline) continue;
        cells.push_back(CellOf(row.sweeps[s].change_pct));
        cells.push_back(verdict(row.sweeps[s].verdict));
      }
      answer->rows.push_back(std::move(cells));
    }
  }
  answer->total = answer->rows.size();
}

Json BestJson(const sweep::ComparisonPage& page) {
  Json list = Json::array();
  for (const sweep::PageSweep& one : page.sweeps) {
    Json best = {{"sweep", one.label}, {"complete", one.complete}};
    for (const sweep::PageBest& line : one.best)
      best[line.objective] = line.config;
    best["warnings"] = one.warnings.size();
    list.push_back(std::move(best));
  }
  return list;
}

std::string Headline(const sweep::ComparisonPage& page) {
  std::string text =
      fmt::format("{} sweeps; baseline {}", page.sweeps.size(), page.sweeps[page.baseline].label);
  for (std::size_t s = 0; s < page.sweeps.size(); ++s) {
    if (s == page.baseline || page.metrics.empty()) continue;
    if (DoesOtherWork(page.sweeps[s])) {
      text += fmt::format("; {} does other work", page.sweeps[s].label);
      continue;
    }
    double sum = 0;
    std::size_t count = 0;
    for (const sweep::PageMetric::Row& row : page.metrics.front().rows) {
      if (!row.sweeps[s].change_pct) continue;
      sum += *row.sweeps[s].change_pct;
      ++count;
    }
    if (count > 0) {
      text += fmt::format("; {}: {} {:+.1f} % over {} configurations", page.sweeps[s].label,
                          "step time", sum / static_cast<double>(count), count);
    } else {
      text += fmt::format("; {} shares no configuration with it", page.sweeps[s].label);
    }
  }
  return text + ".";
}

}  // namespace

Result<Answer> SweepCompare(session::Workspace& workspace, const Json& arguments, Job& job) {
  std::vector<sweep::SweepFacts> sweeps;
  for (const Json& one : arguments.at("sweeps")) {
    JV_ASSIGN(sweep::SweepFacts facts, MeasureSweepOf(workspace, {{"sweep_dir", one}}, job));
    sweeps.push_back(std::move(facts));
  }
  const auto baseline = arguments.at("baseline").get<std::size_t>();
  if (baseline >= sweeps.size()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("baseline: {} of {} sweeps", baseline, sweeps.size()),
                "0 is the first sweep");
  }
  JV_ASSIGN(const std::vector<std::string> labels, LabelsOf(arguments, sweeps));
  const io::FilePolicy& files = workspace.files();
  JV_ASSIGN(
      const std::string directory,
      files.ResolveOutput(
          TextArgument(arguments, "output_dir").value_or(files.DefaultOutput("sweep_comparison"))));
  const sweep::ComparisonPage page = sweep::CompareSweeps(
      sweeps, labels,
      {.baseline = baseline, .threshold_pct = arguments.at("threshold_pct").get<double>()});
  Answer answer;
  answer.summary = Headline(page);
  AddRows(page, &answer);
  const bool complete =
      std::all_of(sweeps.begin(), sweeps.end(), [](const auto& one) { return one.complete(); });
  answer.facts = {{"complete", complete}, {"best", BestJson(page)}};
  const std::vector<Table> tables = sweep::ComparisonTables(page);
  JV_ASSIGN(const std::string page_name, FileName(arguments, kPage));
  std::vector<std::string> names = {page_name};
  for (const Table& table : tables)
    names.push_back(table.name + ".csv");
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(files, directory, job));
  JV_TRY(folder->Claim(names, MayOverwrite(arguments)));
  JV_ASSIGN(std::string path, folder->Write(page_name, sweep::RenderComparisonPage(page)));
  answer.files.push_back({std::move(path), "the comparison, for a browser", 0});
  JV_TRY(WriteTables(tables, *folder, *folder, "", &answer));
  JV_TRY(folder->Commit());
  answer.notes.emplace_back(
      "means over ranks; change = (test - base) / base, less is better; noise: below the threshold "
      "or 0 within the 95 % interval over ranks");
  for (const std::string& one : page.missing)
    answer.notes.push_back("missing: " + one);
  for (std::size_t s = 0; s < sweeps.size(); ++s) {
    if (!sweeps[s].warnings.empty()) {
      answer.notes.push_back(
          fmt::format("{}: {} warnings, see sweep_scan", labels[s], sweeps[s].warnings.size()));
    }
  }
  return answer;
}

}  // namespace jarvis::tools
