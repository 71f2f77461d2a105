#include <algorithm>

#include <fmt/format.h>

#include "engine/category_names.h"
#include "output/number_format.h"
#include "tools/category_files.h"
#include "tools/tools.h"

namespace jarvis::tools {
namespace {

// Indices of the wanted categories; all if none is named.
Result<std::vector<std::size_t>> Choose(const engine::CategoryData& data, const Json& arguments) {
  std::vector<std::string> wanted;
  if (arguments.contains("categories"))
    wanted = arguments.at("categories").get<std::vector<std::string>>();
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < data.categories.size(); ++i) {
    const bool takes =
        wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const auto& name) {
          return engine::CategoryMatches(name, data.categories[i].display_name);
        });
    if (takes) chosen.push_back(i);
  }
  if (chosen.empty() && !wanted.empty()) {
    std::string names;
    for (const engine::Category& category : data.categories) {
      names += (names.empty() ? "" : ", ") + category.key;
    }
    return Fail(ErrorCode::kBadValue,
                fmt::format("no category \"{}\" in this trace; it has: {}",
                            wanted.front().substr(0, 40), names.empty() ? "none" : names),
                "ops_summary with by=category lists them");
  }
  return chosen;
}

// What the chosen categories are of all.
struct Shares {
  double percent = 0;
  double gpu_ms = 0;
};

Shares FillRows(const engine::LoadedTrace& trace, const engine::CategoryData& data,
                const std::vector<std::size_t>& chosen, bool with_files, Answer* answer) {
  answer->columns = {"category", "gpu_ms", "percent", "percent_gpu", "ops", "calls", "host_ms"};
  if (with_files) answer->columns.push_back("file");
  double gpu_us = 0;
  for (const engine::Category& category : data.categories)
    gpu_us += category.gpu_us;
  const double window_us = trace.timeline() ? trace.timeline()->total : 0;
  double chosen_us = 0;
  for (const std::size_t i : chosen) {
    const engine::Category& category = data.categories[i];
    std::uint64_t calls = 0;
    for (const engine::CategoryRow& row : category.rows)
      calls += row.count;
    chosen_us += category.gpu_us;
    answer->rows.push_back(
        {category.key, category.gpu_us / 1000, CellOf(Percent(category.gpu_us, window_us)),
         CellOf(Percent(category.gpu_us, gpu_us)), static_cast<std::int64_t>(category.rows.size()),
         static_cast<std::int64_t>(calls), category.host_us / 1000});
    if (with_files) answer->rows.back().emplace_back("category_data/" + category.key + "_ops.csv");
  }
  return {Percent(chosen_us, gpu_us).value_or(0), output::Rounded(gpu_us / 1000)};
}

}  // namespace

Result<Answer> CategoryFilter(engine::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  const engine::CategoryData data = engine::CollectCategories(*trace);
  JV_ASSIGN(const std::vector<std::size_t> chosen, Choose(data, arguments));
  Answer answer;
  answer.trace = trace->id();
  const bool writes = workspace.files().may_write() || arguments.contains("output_dir");
  std::string wrote = "Found";
  std::string where;
  if (writes) {
    JV_ASSIGN(const std::string directory, OutputDirectory(workspace, arguments, *trace));
    JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
    JV_ASSIGN(std::vector<FileLink> files,
              WriteCategoryFiles(*trace, data, chosen, *folder,
                                 arguments.at("limit_rows").get<std::size_t>(),
                                 MayOverwrite(arguments), job));
    answer.files.push_back(std::move(files.back()));  // the manifest, which names all others
    wrote = "Wrote";
    where = " to " + directory;
  }
  const Shares shares = FillRows(*trace, data, chosen, writes, &answer);
  answer.total = answer.rows.size();
  answer.summary = fmt::format("{} {} categories = {:.1f} % of {} ms GPU time{}.", wrote,
                               chosen.size(), shares.percent, shares.gpu_ms, where);
  answer.notes = CoverageNotes(*trace);
  if (!writes) answer.notes.insert(answer.notes.begin(), "this server writes no files: rows alone");
  if (!chosen.empty()) {
    answer.next = {{"ops_summary",
                    {{"trace", trace->id()}, {"category", data.categories[chosen[0]].key}},
                    "the ops of the largest category"}};
  }
  return answer;
}

}  // namespace jarvis::tools
