#include <fmt/format.h>

#include "base/text.h"
#include "documents/prose.h"
#include "findings/one/wall_plan.h"
#include "formats/analysis_json.h"
#include "output/number_format.h"
#include "session/trace_simulation.h"
#include "tools/shared/answer_picture.h"
#include "tools/shared/arguments.h"
#include "tools/shared/category_choice.h"
#include "tools/shared/first_view.h"
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

Json RangeFacts(const findings::Range& ms) {
  return {{"low", output::Rounded(ms.low)},
          {"mid", output::Rounded(ms.mid)},
          {"high", output::Rounded(ms.high)}};
}

// Of the steps or iterations that savings are of; empty: there is one.
std::string UnitsText(const Analysis& analysis) {
  const findings::StepBase& base = analysis.base;
  return base.count > 1 ? fmt::format(" ({} {}s)", base.count, base.unit) : "";
}

// All findings together, of wall time; without a sum where more could not be assessed than the
// first finding saves.
Json CombinedFacts(const Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known) return formats::CombinedJson(analysis.combined);
  if (!wall.together_ms) return {{"wall_ms", output::Rounded(wall.wall_ms)}};
  return {{"savings_ms", RangeFacts(*wall.together_ms)},
          {"wall_ms", output::Rounded(wall.wall_ms)},
          {"new_wall_ms", output::Rounded(wall.wall_ms - wall.together_ms->mid)}};
}

// The first levers in words, as the reports have them.
Json FirstInWords(const Analysis& analysis) {
  constexpr std::size_t kFirst = 3;
  constexpr std::size_t kBytesMax = 300;
  Json first = Json::array();
  for (std::size_t i = 0; i < analysis.findings.size() && i < kFirst; ++i) {
    const findings::Finding& finding = analysis.findings[i];
    const documents::FindingText text = documents::TextOf(analysis, finding, {});
    Json one = {{"finding", finding.id}, {"what", OneLine(Utf8Prefix(text.title, kBytesMax))}};
    const auto add = [&](const char* name, const std::string& words, bool there) {
      if (there && !words.empty()) one[name] = OneLine(Utf8Prefix(words, kBytesMax));
    };
    add("path_a", text.path_a, !finding.path_a.empty());
    add("path_b", text.path_b, !finding.path_b.empty());
    first.push_back(std::move(one));
  }
  return first;
}

// What a plan saves on the clock: each part alone, as its finding says, and after those before it.
void ShowPlan(const Analysis& analysis, const findings::WallPlan& plan, Answer* answer) {
  const findings::WallBase& wall = analysis.wall;
  const findings::Range& ms = plan.together_ms;
  Json in_order = Json::array();
  double alone_ms = 0;
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    alone_ms += plan.steps[k].alone_ms.mid;
    in_order.push_back({{"change", plan.steps[k].name},
                        {"alone_ms", output::Rounded(plan.steps[k].alone_ms.mid)},
                        {"after_those_before_ms", output::Rounded(plan.after_ms[k])}});
  }
  answer->facts["what_if"] = {{"savings_ms", RangeFacts(ms)},
                              {"wall_ms", output::Rounded(wall.wall_ms)},
                              {"new_wall_ms", output::Rounded(wall.wall_ms - ms.mid)},
                              {"in_order", std::move(in_order)}};
  answer->summary = fmt::format(
      "The plan saves {} ms ({} to {}) of {} ms of wall time{}: {:.1f} %{}.",
      output::Rounded(ms.mid), output::Rounded(ms.low), output::Rounded(ms.high),
      output::Rounded(wall.wall_ms), UnitsText(analysis), Percent(ms.mid, wall.wall_ms).value_or(0),
      plan.steps.size() > 1
          ? fmt::format("; its parts alone add up to {} ms", output::Rounded(alone_ms))
          : "");
  for (const std::string& id : plan.nothing) {
    answer->notes.push_back(
        id + " adds nothing: it happens once, or the trace does not tell what it would save");
  }
}

void ShowGpuPlan(const Analysis& analysis, const findings::Combined& combined, Answer* answer) {
  answer->facts["what_if"] = formats::CombinedJson(combined);
  answer->summary = fmt::format(
      "The plan saves {} ms ({} to {}) of {} ms of GPU time{}; what that is worth in wall time is "
      "not known.",
      output::Rounded(combined.savings_ms.mid), output::Rounded(combined.savings_ms.low),
      output::Rounded(combined.savings_ms.high), output::Rounded(analysis.totals.window_ms),
      combined.capped ? fmt::format("; its parts alone would add up to {} ms",
                                    output::Rounded(combined.sum_of_parts_ms))
                      : "");
}

std::string SavingsNote(const Analysis& analysis) {
  if (analysis.cpu)
    return "high_ms: at most, all of the time of what is to go, measured in the trace";
  if (!analysis.wall.known) return "savings are GPU time: " + analysis.wall.why_not;
  return fmt::format(
      "savings are of {} ms of wall time{}; after_ms: once the findings above are done; first "
      "stands what saves most then, weighed by how sure it is and how easy; high_ms without "
      "saves_ms: at most",
      output::Rounded(analysis.wall.wall_ms), UnitsText(analysis));
}

std::string PictureOfSavings(const Analysis& analysis, const Answer& answer) {
  const bool wall = analysis.wall.known;
  return DrawBars(
      {.title = wall ? "Wall time saved by each finding" : "GPU time saved by each finding",
       .subtitle = answer.summary,
       .axis = "ms saved",
       .bars = BarsOf(answer, {{"finding", "category", "subject"},
                               {{"saves_ms", "alone"}, {"after_ms", "after those above"}}})});
}

}  // namespace

Result<Answer> Prioritize(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const AnalysisCase one, AnalyzeTrace(workspace, arguments, job));
  const Analysis& analysis = *one.analysis;
  Answer answer;
  answer.trace = analysis.trace_id;
  answer.summary = WholeHeadline(analysis);
  answer.facts = Json::object();
  answer.facts["combined"] = CombinedFacts(analysis);
  if (const std::string workload = findings::WorkloadLine(analysis.workload); !workload.empty())
    answer.facts["workload"] = workload;
  if (arguments.contains("plan")) {
    JV_ASSIGN(const std::vector<PlanItem> plan, ReadPlan(arguments));
    if (analysis.wall.known) {
      JV_ASSIGN(const auto simulation, session::SimulationOf(*one.trace, job));
      JV_ASSIGN(const findings::WallPlan asked, findings::AskPlan(analysis, *simulation, plan));
      ShowPlan(analysis, asked, &answer);
    } else {
      JV_ASSIGN(const findings::Combined combined, findings::WhatIf(analysis, plan));
      ShowGpuPlan(analysis, combined, &answer);
    }
  }
  if (!analysis.findings.empty()) answer.facts["first"] = FirstInWords(analysis);
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
  answer.notes.push_back(SavingsNote(analysis));
  if (!one.platform.note.empty()) answer.notes.push_back(one.platform.note);
  answer.view = FirstScreen(analysis);
  if (WantsPicture(arguments)) answer.picture = PictureOfSavings(analysis, answer);
  return answer;
}

}  // namespace jarvis::tools
