// What an agent has to say of findings: better words, which do not apply, which come first. Figures
// are the server's, and follow.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/claims.h"
#include "documents/report_fair.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"
#include "tools/shared/report_files.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kFaultsShown = 6;

// The fields that were given. What would be structure in a report is refused.
Result<std::map<std::string, std::string>> GivenTexts(const Json& arguments) {
  std::map<std::string, std::string> texts;
  for (const documents::TextField& field : documents::kTextFields) {
    const std::string name(field.name);
    const auto given = TextArgument(arguments, name.c_str());
    if (!given) continue;
    std::string text(Trim(*given));
    const bool structure =
        text.find('\n') != std::string::npos || text.find("<!--") != std::string::npos ||
        text.find("<a ") != std::string::npos || text.starts_with("#") || text.starts_with("|");
    if (text.empty() || structure) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("{}: expected sentences on one line, without headings, tables and "
                              "comments",
                              name),
                  "leave the argument out to keep the text");
    }
    texts[name] = ValidUtf8(text);
  }
  return texts;
}

// Held against the tables of all documents.
std::vector<documents::Fault> FaultsOf(const ReportCase& one,
                                       const std::map<std::string, std::string>& texts) {
  const documents::Evidence evidence = EvidenceOf(one);
  std::vector<documents::Fault> faults;
  for (const auto& [name, text] : texts) {
    for (documents::Fault& fault : documents::CheckProse(text, evidence, {{}, name, 0, {}, {}}))
      faults.push_back(std::move(fault));
  }
  return faults;
}

Error Refusal(const std::vector<documents::Fault>& faults) {
  std::string message = "nothing was stored: ";
  for (std::size_t i = 0; i < faults.size() && i < kFaultsShown; ++i) {
    message += fmt::format("{}{}: {}; {}", i == 0 ? "" : ". ", faults[i].file, faults[i].message,
                           faults[i].fix);
  }
  return {ErrorCode::kBadValue, std::move(message),
          "say it with the wording given; figures as the report's tables have them"};
}

// All findings there are, the dismissed ones too.
Result<const findings::Finding*> FindingOf(const ReportCase& one, const std::string& id) {
  if (const findings::Finding* finding = one.uncorrected->FindFinding(id)) return finding;
  std::string known;
  for (const findings::Finding& other : one.uncorrected->findings)
    known += (known.empty() ? "" : ", ") + other.id;
  return Fail(ErrorCode::kBadValue,
              fmt::format("no finding \"{}\"; there are: {}", Utf8Prefix(id, 40),
                          known.empty() ? "none" : known));
}

// What the call decides beside words; adds to `done` what it was.
Result<findings::FindingChoices> ChoicesOf(const ReportCase& one, const Json& arguments,
                                           const findings::Finding* finding, std::string* done) {
  findings::FindingChoices choices = one.choices;
  if (arguments.contains("dismiss")) {
    if (finding == nullptr)
      return Fail(ErrorCode::kBadValue, "dismiss: which finding?", "give finding, too");
    const std::string reason = OneLine(ValidUtf8(Trim(arguments["dismiss"].get<std::string>())));
    const std::map<std::string, std::string> prose = {{"dismiss", reason}};
    if (const auto faults = FaultsOf(one, prose); !faults.empty())
      return tl::make_unexpected(Refusal(faults));
    std::erase_if(choices.dismissed, [&](const auto& old) { return old.finding == finding->id; });
    if (!reason.empty()) choices.dismissed.push_back({finding->id, finding->subject, reason});
    *done +=
        fmt::format("{} is {}. ", finding->id, reason.empty() ? "a finding again" : "dismissed");
  }
  if (arguments.contains("order")) {
    choices.order = arguments["order"].get<std::vector<std::string>>();
    for (const std::string& id : choices.order)
      JV_TRY(FindingOf(one, id));
    *done += choices.order.empty() ? "The order is the server's again. "
                                   : fmt::format("First come {}. ", fmt::join(choices.order, ", "));
  }
  return choices;
}

}  // namespace

Result<Answer> WriteFindings(session::Workspace& workspace, const Json& arguments, Job& job,
                             const CallLog& log) {
  JV_ASSIGN(const auto texts, GivenTexts(arguments));
  JV_ASSIGN(ReportCase one, OpenReportCase(workspace, arguments, job));
  const findings::Finding* finding = nullptr;
  if (arguments.contains("finding")) {
    JV_ASSIGN(finding, FindingOf(one, arguments["finding"].get<std::string>()));
  } else if (!texts.empty()) {
    return Fail(ErrorCode::kBadValue, "words of which finding?", "give finding, too");
  }
  if (const auto faults = FaultsOf(one, texts); !faults.empty()) {
    return tl::make_unexpected(Refusal(faults));
  }
  std::string done;
  JV_ASSIGN(findings::FindingChoices choices, ChoicesOf(one, arguments, finding, &done));
  if (texts.empty() && done.empty()) {
    return Fail(ErrorCode::kBadValue, "nothing is given",
                "give one or more of title, insight, action, identification, reasoning, "
                "resolution, path_a, path_b; or dismiss; or order");
  }
  JV_TRY(SetChoices(std::move(choices), &one, job));
  std::string names;
  for (const auto& [name, text] : texts) {
    one.edits[finding->id][name] = text;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) done += fmt::format("Stored {} of {}. ", names, finding->id);
  std::vector<std::string> reports = ReportsThere(one.folder);
  if (reports.empty()) reports = {"fair", "rough", "analysis"};
  JV_ASSIGN(
      std::vector<FileLink> links,
      WriteReports(workspace, one, reports, log.Of(one.trace->id()), MayOverwrite(arguments), job));
  Answer answer;
  answer.trace = one.trace->id();
  answer.summary = fmt::format("{}{} reports are written anew.", done, reports.size());
  if (const auto& ms = one.analysis->wall.together_ms; ms && !one.choices.empty()) {
    answer.summary +=
        fmt::format(" Together the findings save {} ms ({} to {}).", output::Rounded(ms->mid),
                    output::Rounded(ms->low), output::Rounded(ms->high));
  }
  const std::string twin =
      finding == nullptr ? "report_options.json" : finding->category + "_findings.json";
  std::erase_if(links, [&](const FileLink& link) { return !link.path.ends_with("/" + twin); });
  answer.files = std::move(links);
  return answer;
}

}  // namespace jarvis::tools
