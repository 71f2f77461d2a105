// Words of an agent for a finding. Its figures and its rank are the server's.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/claims.h"
#include "documents/report_fair.h"
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
  if (texts.empty()) {
    return Fail(ErrorCode::kBadValue, "no text is given",
                "give one or more of title, insight, action, identification, reasoning, "
                "resolution, path_a, path_b");
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

}  // namespace

Result<Answer> WriteFindings(session::Workspace& workspace, const Json& arguments, Job& job,
                             const CallLog& log) {
  JV_ASSIGN(const auto texts, GivenTexts(arguments));
  JV_ASSIGN(ReportCase one, OpenReportCase(workspace, arguments, job));
  const std::string id = arguments.at("finding").get<std::string>();
  const findings::Finding* finding = one.analysis->FindFinding(id);
  if (finding == nullptr) {
    std::string known;
    for (const findings::Finding& other : one.analysis->findings)
      known += (known.empty() ? "" : ", ") + other.id;
    return Fail(ErrorCode::kBadValue,
                fmt::format("no finding \"{}\"; there are: {}", Utf8Prefix(id, 40),
                            known.empty() ? "none" : known));
  }
  if (const auto faults = FaultsOf(one, texts); !faults.empty()) {
    return tl::make_unexpected(Refusal(faults));
  }
  for (const auto& [name, text] : texts)
    one.edits[id][name] = text;
  std::vector<std::string> reports = ReportsThere(one.folder);
  if (reports.empty()) reports = {"fair", "rough", "analysis"};
  JV_ASSIGN(
      std::vector<FileLink> links,
      WriteReports(workspace, one, reports, log.Of(one.trace->id()), MayOverwrite(arguments), job));
  std::string names;
  for (const auto& [name, text] : texts)
    names += (names.empty() ? "" : ", ") + name;
  Answer answer;
  answer.trace = one.trace->id();
  answer.summary =
      fmt::format("Stored {} of {}; {} reports are written anew.", names, id, reports.size());
  const std::string twin = finding->category + "_findings.json";
  std::erase_if(links, [&](const FileLink& link) { return !link.path.ends_with("/" + twin); });
  answer.files = std::move(links);
  return answer;
}

}  // namespace jarvis::tools
