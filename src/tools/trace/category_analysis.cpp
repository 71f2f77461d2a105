#include <algorithm>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "output/number_format.h"
#include "session/category_names.h"
#include "tools/shared/arguments.h"
#include "tools/shared/category_choice.h"
#include "tools/trace/finding_rows.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using findings::Analysis;
using findings::CategoryAnalysis;
using findings::Finding;
using findings::Operation;

// Names of what is no category of ops, and how findings about it are marked.
struct SystemName {
  std::string_view name;
  std::string_view category;
};
constexpr SystemName kSystem[] = {
    {"idle", "cpu_idle"},
    {"cpu_idle", "cpu_idle"},
    {"communication", "multi_kernel"},
    {"memcpy", "multi_kernel"},
    {"overlap", "multi_kernel"},
    {"multi_kernel", "multi_kernel"},
    {"fusion", "kernel_fusion"},
    {"kernel_fusion", "kernel_fusion"},
};

std::string_view SystemCategory(std::string_view name) {
  const std::string lower = session::CategoryKey(name);
  const auto* found = std::find_if(std::begin(kSystem), std::end(kSystem),
                                   [&](const SystemName& one) { return one.name == lower; });
  return found == std::end(kSystem) ? std::string_view() : found->category;
}

std::string Reasons(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys)
    text += (text.empty() ? "" : "; ") + ReasonText(key);
  return text;
}

void ShowFindings(const std::vector<const Finding*>& findings, std::size_t limit,
                  const Analysis& analysis, Answer* answer) {
  answer->columns = FindingColumns();
  for (std::size_t i = 0; i < findings.size() && i < limit; ++i)
    answer->rows.push_back(FindingRow(*findings[i]));
  answer->total = findings.size();
  for (std::size_t i = 0; i < findings.size() && i < limit; ++i) {
    if (!findings[i]->row_ids.empty() && answer->next.empty()) {
      answer->next.push_back({"parent_chain",
                              {{"trace", analysis.trace_id}, {"row", findings[i]->row_ids[0]}},
                              "where the first finding's op is called"});
    }
  }
}

void ShowOperations(const std::vector<const CategoryAnalysis*>& categories, std::size_t limit,
                    Answer* answer) {
  answer->columns = {"operation", "row",        "op",      "args", "calls",   "gpu_ms",   "percent",
                     "bound",     "efficiency", "tflop_s", "tb_s", "library", "patterns", "module"};
  std::vector<const Operation*> operations;
  for (const CategoryAnalysis* category : categories) {
    for (const Operation& operation : category->operations)
      operations.push_back(&operation);
  }
  std::stable_sort(operations.begin(), operations.end(),
                   [](const Operation* a, const Operation* b) { return a->gpu_us > b->gpu_us; });
  const auto text = [](std::string value) {
    return value.empty() ? Cell() : Cell(std::move(value));
  };
  for (std::size_t i = 0; i < operations.size() && i < limit; ++i) {
    const Operation& o = *operations[i];
    std::string patterns;
    for (const findings::PatternHit& hit : o.patterns)
      patterns += fmt::format("{}{}", patterns.empty() ? "" : " ", findings::Info(hit.pattern).key);
    answer->rows.push_back(
        {o.id, text(o.row_id), OneLine(Utf8Prefix(o.name, 60)), text(ShortArgs(o.args)),
         static_cast<std::int64_t>(o.count), o.gpu_us / 1000, CellOf(o.percent_of_total),
         std::string(findings::BoundText(o.efficiency.bound)), CellOf(o.efficiency.percent),
         CellOf(o.efficiency.tflops_per_s), CellOf(o.efficiency.tb_per_s), text(o.library),
         text(patterns), text(std::string(Utf8Prefix(o.module_path, 80)))});
  }
  answer->total = operations.size();
}

std::string Headline(const Analysis& analysis,
                     const std::vector<const CategoryAnalysis*>& categories) {
  double us = 0;
  std::uint64_t calls = 0;
  std::string names;
  for (const CategoryAnalysis* category : categories) {
    us += category->gpu_us;
    calls += category->calls;
    names += (names.empty() ? "" : ", ") + category->key;
  }
  std::string text = fmt::format("{}: {} ms in {} calls", names, output::Rounded(us / 1000), calls);
  if (analysis.totals.computation_ms > 0) {
    text += fmt::format(", {:.1f} % of computing time", us / 10 / analysis.totals.computation_ms);
  }
  if (categories.size() == 1 && categories[0]->efficiency)
    text += fmt::format(", {:.1f} % of the roof", *categories[0]->efficiency);
  return text + ".";
}

void NothingFound(const std::vector<const CategoryAnalysis*>& categories, const Analysis& analysis,
                  Answer* answer) {
  std::vector<std::string> keys = analysis.nothing_because;
  for (const CategoryAnalysis* category : categories)
    keys.insert(keys.end(), category->notes.begin(), category->notes.end());
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  answer->summary += " No finding" + (keys.empty() ? std::string() : ": " + Reasons(keys)) + ".";
}

void AddNotes(const AnalysisCase& one, const std::vector<const CategoryAnalysis*>& categories,
              Answer* answer) {
  for (const CategoryAnalysis* category : categories) {
    if (!category->anomalies.empty()) answer->notes.push_back(AnomalyNote(*category));
  }
  for (const findings::Quality& quality : one.analysis->quality) {
    if (quality.severity == findings::Severity::kNote || answer->notes.size() > 4) continue;
    answer->notes.push_back(fmt::format("[{}] {}{}{}", quality.code, quality.text,
                                        quality.record.empty() ? "" : " Record: ", quality.record));
  }
  if (!one.platform.note.empty()) answer->notes.push_back(one.platform.note);
}

}  // namespace

Result<Answer> CategoryAnalysisTool(session::Workspace& workspace, const Json& arguments,
                                    Job& job) {
  JV_ASSIGN(const AnalysisCase one, AnalyzeTrace(workspace, arguments, job));
  const Analysis& analysis = *one.analysis;
  const std::string wanted = arguments.at("category").get<std::string>();
  const auto limit = arguments.at("limit").get<std::size_t>();
  Answer answer;
  answer.trace = analysis.trace_id;
  const std::string_view system = SystemCategory(wanted);
  const bool all = session::CategoryKey(wanted) == "all";
  std::vector<const CategoryAnalysis*> categories;
  if (system.empty()) {
    std::vector<std::string> names;
    if (!all) names.push_back(wanted);
    JV_ASSIGN(const auto chosen, ChooseCategories(analysis, names));
    for (const std::size_t i : chosen)
      categories.push_back(&analysis.categories[i]);
  }
  std::vector<const Finding*> findings;
  for (const Finding& finding : analysis.findings) {
    const bool mine = std::any_of(categories.begin(), categories.end(), [&](const auto* category) {
      return category->key == finding.category;
    });
    if (all || mine || finding.category == system) findings.push_back(&finding);
  }
  answer.summary = !system.empty() ? SystemHeadline(analysis, system)
                   : all           ? WholeHeadline(analysis)
                                   : Headline(analysis, categories);
  if (arguments.at("show") == "operations" && system.empty()) {
    ShowOperations(categories, limit, &answer);
  } else {
    ShowFindings(findings, limit, analysis, &answer);
    if (findings.empty()) NothingFound(categories, analysis, &answer);
  }
  AddNotes(one, categories, &answer);
  return answer;
}

}  // namespace jarvis::tools
