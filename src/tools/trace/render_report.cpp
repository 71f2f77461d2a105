// The reports of an analysis, from the analysis itself and from what agents wrote.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/markdown_text.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"
#include "tools/shared/report_files.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

// What the first findings are, for somebody who opens no file.
void AddFindings(const ReportCase& one, Answer* answer) {
  answer->columns = {"priority",  "finding",         "what", "gpu_ms", "save_ms_max", "path_a_ms",
                     "path_b_ms", "after_others_ms", "class"};
  const auto alone = [](const std::optional<findings::WallSaving>& saving) {
    return saving ? Cell(output::Rounded(saving->ms.high)) : Cell();
  };
  for (const findings::Finding& finding : one.analysis->findings) {
    if (answer->rows.size() == 5) break;
    const findings::WallSaving* best = findings::BestWall(finding);
    answer->rows.push_back({static_cast<std::int64_t>(finding.global_rank), finding.id,
                            documents::TextOf(*one.analysis, finding, one.edits).title,
                            output::Rounded(finding.time_ms),
                            best != nullptr      ? Cell(output::Rounded(best->ms.high))
                            : finding.savings_ms ? Cell(output::Rounded(finding.savings_ms->high))
                                                 : Cell(),
                            alone(finding.wall_a), alone(finding.wall_b),
                            best != nullptr ? Cell(output::Rounded(best->after_others_ms)) : Cell(),
                            std::string(findings::PriorityText(finding.priority))});
  }
  answer->total = one.analysis->findings.size();
}

std::string LeftOut(const std::string& field, const std::string& finding) {
  return fmt::format("{} of {} said what no table says, or what a trace cannot show", field,
                     finding);
}

// Texts that write_findings would have refused, as somebody wrote them into the files by hand: the
// drafts take their place, so that what is written anew has no faults.
void DropFaultyTexts(ReportCase* one) {
  const documents::Evidence evidence = EvidenceOf(*one);
  for (auto& [finding, texts] : one->edits) {
    for (auto text = texts.begin(); text != texts.end();) {
      if (documents::CheckProse(text->second, evidence, {}).empty()) {
        ++text;
        continue;
      }
      one->dropped_edits.push_back(LeftOut(text->first, finding));
      text = texts.erase(text);
    }
  }
  std::erase_if(one->edits, [](const auto& of) { return of.second.empty(); });
}

// The same for findings that were added.
Status DropFaultyAdditions(ReportCase* one, Job& job) {
  if (one->choices.added.empty()) return {};
  const documents::Evidence evidence = EvidenceOf(*one);
  findings::FindingChoices choices = one->choices;
  for (findings::Addition& addition : choices.added) {
    std::erase_if(addition.texts, [&](const auto& text) {
      const bool faulty = !documents::CheckProse(text.second, evidence, {}).empty();
      if (faulty) one->dropped_edits.push_back(LeftOut(text.first, addition.id));
      return faulty;
    });
    if (!documents::CheckProse(addition.subject, evidence, {}).empty())
      addition.subject = "A finding that was added";
  }
  return SetChoices(std::move(choices), one, job);
}

Status CheckReports(const std::vector<std::string>& reports) {
  for (const std::string& report : reports) {
    if (report == "fair" || report == "rough" || report == "analysis") continue;
    return Fail(ErrorCode::kBadValue,
                fmt::format("reports: there is no \"{}\"; there are: fair, rough, analysis",
                            Utf8Prefix(report, 40)));
  }
  return {};
}

}  // namespace

Result<Answer> RenderReport(session::Workspace& workspace, const Json& arguments, Job& job,
                            const CallLog& log) {
  JV_ASSIGN(ReportCase one, OpenReportCase(workspace, arguments, job));
  if (MayOverwrite(arguments)) {
    DropFaultyTexts(&one);
    JV_TRY(DropFaultyAdditions(&one, job));
  }
  const auto reports = arguments.at("reports").get<std::vector<std::string>>();
  JV_TRY(CheckReports(reports));
  Answer answer;
  answer.trace = one.trace->id();
  const std::vector<documents::CallRecord> calls = log.Of(one.trace->id());
  JV_ASSIGN(WrittenReports written,
            WriteReports(workspace, one, reports, calls, MayOverwrite(arguments), job));
  std::vector<FileLink>& links = written.links;
  std::size_t checked = 0;
  const std::vector<std::string> dropped = std::exchange(one.dropped_edits, {});  // not written
  // A report that was there before is checked, too.
  const std::vector<std::string> there = ReportsThere(one.folder);
  const bool all = std::all_of(there.begin(), there.end(), [&](const std::string& report) {
    return std::find(reports.begin(), reports.end(), report) != reports.end();
  });
  if (!all) written.rendered = {};
  JV_ASSIGN(const std::vector<documents::Fault> faults,
            ValidateReports(one, calls, std::move(written.rendered), &checked, job));
  const findings::Combined& combined = one.analysis->combined;
  answer.summary = fmt::format("Wrote {} files to {}: {} findings", links.size(), one.folder,
                               one.analysis->findings.size());
  const findings::WallBase& wall = one.analysis->wall;
  answer.facts["workload"] = findings::WorkloadLine(one.analysis->workload);
  if (wall.together_ms) {
    answer.summary +=
        fmt::format(", together {} of {} of wall time", documents::Ms(wall.together_ms->mid),
                    documents::Ms(wall.wall_ms));
  } else if (one.analysis->UnassessedKinds().empty() && combined.savings_ms.high > 0) {
    answer.summary +=
        fmt::format(", together at most {} of {}", documents::Ms(combined.savings_ms.high),
                    documents::Ms(one.analysis->totals.window_ms));
  }
  answer.summary += fmt::format("; {} documents checked, {} faults.", checked, faults.size());
  answer.facts["valid"] = faults.empty();
  AddFindings(one, &answer);
  for (const std::string& text : dropped)
    answer.notes.push_back("left out: " + text);
  if (!one.platform.note.empty()) answer.notes.push_back(one.platform.note);
  constexpr std::size_t kLinksShown = 8;  // a finding's file is named like its category
  if (links.size() > kLinksShown) links.resize(kLinksShown);
  answer.files = std::move(links);
  answer.next = {
      {"validate",
       {{"trace", one.trace->id()}, {"output_dir", one.folder}},
       faults.empty() ? "check them again after changes" : "what is wrong, and the fix"}};
  return answer;
}

}  // namespace jarvis::tools
