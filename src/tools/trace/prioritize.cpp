#include <fmt/format.h>

#include "base/text.h"
#include "formats/analysis_json.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"
#include "tools/shared/category_choice.h"
#include "tools/trace/finding_rows.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using findings::Analysis;
using findings::PlanItem;

// "f3", "gemm.1@80".
Result<std::vector<PlanItem>> ReadPlan(const Json& arguments) {
  std::vector<PlanItem> plan;
  for (const Json& entry : arguments.at("plan")) {
    const std::string text = entry.get<std::string>();
    const std::size_t at = text.find('@');
    PlanItem item{text.substr(0, at), {}};
    if (at != std::string::npos) {
      std::string_view number = std::string_view(text).substr(at + 1);
      if (number.ends_with('%')) number.remove_suffix(1);
      item.target_percent = ParseDouble(number);
      if (!item.target_percent) {
        return Fail(ErrorCode::kBadValue,
                    fmt::format("plan: expected \"f1\" or \"gemm.1@80\", received \"{}\"",
                                Utf8Prefix(text, 40)));
      }
    }
    plan.push_back(std::move(item));
  }
  return plan;
}

}  // namespace

Result<Answer> Prioritize(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const AnalysisCase one, AnalyzeTrace(workspace, arguments, job));
  const Analysis& analysis = *one.analysis;
  Answer answer;
  answer.trace = analysis.trace_id;
  answer.summary = WholeHeadline(analysis);
  answer.facts = Json::object();
  answer.facts["combined"] = formats::CombinedJson(analysis.combined);
  if (const std::string workload = findings::WorkloadLine(analysis.workload); !workload.empty())
    answer.facts["workload"] = workload;
  if (arguments.contains("plan")) {
    JV_ASSIGN(const std::vector<PlanItem> plan, ReadPlan(arguments));
    JV_ASSIGN(const findings::Combined combined, findings::WhatIf(analysis, plan));
    answer.facts["what_if"] = formats::CombinedJson(combined);
    answer.summary = fmt::format(
        "The plan saves {} ms ({} to {}) of {} ms{}.", output::Rounded(combined.savings_ms.mid),
        output::Rounded(combined.savings_ms.low), output::Rounded(combined.savings_ms.high),
        output::Rounded(analysis.totals.window_ms),
        combined.capped ? fmt::format("; its parts alone would add up to {} ms",
                                      output::Rounded(combined.sum_of_parts_ms))
                        : "");
  }
  answer.columns = FindingColumns();
  const auto limit = arguments.at("limit").get<std::size_t>();
  for (std::size_t i = 0; i < analysis.findings.size() && i < limit; ++i)
    answer.rows.push_back(FindingRow(analysis.findings[i]));
  answer.total = analysis.findings.size();
  if (analysis.findings.empty()) {
    std::string why;
    for (const std::string& key : analysis.nothing_because)
      why += (why.empty() ? "" : "; ") + ReasonText(key);
    answer.notes.push_back("nothing to fix: " + (why.empty() ? "no finding" : why));
  }
  answer.notes.emplace_back("savings assume that nothing else fills the time; overlaps count once");
  if (!one.platform.note.empty()) answer.notes.push_back(one.platform.note);
  return answer;
}

}  // namespace jarvis::tools
