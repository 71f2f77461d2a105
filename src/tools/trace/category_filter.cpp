#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "findings/one/ops_tables.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"
#include "tools/shared/category_choice.h"
#include "tools/shared/category_files.h"
#include "tools/shared/report_files.h"
#include "tools/trace/finding_rows.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

// What the chosen categories are of all.
struct Shares {
  double percent = 0;
  double gpu_ms = 0;
};

Shares FillRows(const findings::Analysis& analysis, const std::vector<std::size_t>& chosen,
                bool with_files, Answer* answer) {
  answer->columns = {"category", "gpu_ms", "percent",  "percent_gpu", "efficiency",
                     "ops",      "calls",  "findings", "host_ms"};
  if (with_files) answer->columns.push_back("file");
  double all_ms = 0;
  for (const findings::CategoryAnalysis& category : analysis.categories)
    all_ms += category.gpu_us / 1000;
  double chosen_ms = 0;
  for (const std::size_t i : chosen) {
    const findings::CategoryAnalysis& category = analysis.categories[i];
    const double ms = category.gpu_us / 1000;
    chosen_ms += ms;
    answer->rows.push_back(
        {category.key, ms, CellOf(category.percent_of_total), CellOf(Percent(ms, all_ms)),
         CellOf(category.efficiency), static_cast<std::int64_t>(category.operations.size()),
         static_cast<std::int64_t>(category.calls),
         static_cast<std::int64_t>(category.findings.size()), category.host_us / 1000});
    if (with_files) answer->rows.back().emplace_back("category_data/" + category.key + "_ops.csv");
  }
  return {Percent(chosen_ms, all_ms).value_or(0), output::Rounded(all_ms)};
}

}  // namespace

Result<Answer> CategoryFilter(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(AnalysisCase one, OpenAnalysisCase(workspace, arguments, job));
  const perf::Platform* platform = one.platform.platform ? &*one.platform.platform : nullptr;
  const bool writes = workspace.files().may_write() || arguments.contains("output_dir");
  Status analysed;
  Result<std::map<std::string, Table>> ops;
  RunBeside([&] { analysed = FindAnalysis(&one, job); },
            [&] {
              if (writes)
                ops = findings::OpsTables(*one.trace, platform, one.extension.models, job);
            });
  JV_TRY(analysed);
  JV_TRY(ops);
  std::vector<std::string> names;
  if (arguments.contains("categories"))
    names = arguments.at("categories").get<std::vector<std::string>>();
  CategoryFilesOptions options;
  JV_ASSIGN(options.chosen, ChooseCategories(*one.analysis, names));
  options.platform = platform;
  Answer answer;
  answer.trace = one.trace->id();
  std::string wrote = "Found";
  std::string where;
  std::string directory;
  const AnalysisCase own = one;  // without what was decided about findings: the drafts apply it
  if (writes) {
    options.rows_max = arguments.at("limit_rows").get<std::size_t>();
    options.overwrite = MayOverwrite(arguments);
    JV_ASSIGN(directory, OutputDirectory(workspace, arguments, *one.trace));
    JV_ASSIGN(one.analysis, CorrectedAnalysis(workspace, own, arguments, directory, job));
    JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
    JV_ASSIGN(std::vector<FileLink> files, WriteCategoryFiles(*one.trace, *one.analysis, options,
                                                              std::move(*ops), *folder, job));
    answer.files.push_back(std::move(files.back()));  // the manifest, which names all others
    wrote = "Wrote";
    where = " to " + directory + "/category_data";
  }
  const Shares shares = FillRows(*one.analysis, options.chosen, writes, &answer);
  answer.total = answer.rows.size();
  answer.summary = fmt::format("{} {} categories = {:.1f} % of {} ms GPU time{}.", wrote,
                               options.chosen.size(), shares.percent, shares.gpu_ms, where);
  answer.notes = CoverageNotes(*one.trace);
  for (const std::size_t chosen : options.chosen) {
    const findings::CategoryAnalysis& category = one.analysis->categories[chosen];
    if (!category.anomalies.empty()) answer.notes.push_back(AnomalyNote(category));
  }
  if (!one.platform.note.empty()) answer.notes.push_back(one.platform.note);
  if (!writes) answer.notes.insert(answer.notes.begin(), "this server writes no files: rows alone");
  if (!options.chosen.empty()) {
    const std::string& first = one.analysis->categories[options.chosen[0]].key;
    answer.next = {{"category_analysis",
                    {{"trace", one.trace->id()}, {"category", first}},
                    "findings of the largest category"}};
  }
  if (writes && arguments.value("drafts", true))
    JV_TRY(WriteDrafts(workspace, own, arguments, directory, job));
  return answer;
}

}  // namespace jarvis::tools
