#include "documents/added_prose.h"

#include <fmt/format.h>

#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "findings/one/additions.h"

namespace jarvis::documents {

FindingText AddedText(const findings::Finding& finding) {
  FindingText text;
  text.title = ProseOfText(finding.subject);
  text.insight = "What was seen is not written down.";
  text.identification =
      fmt::format("Added to the findings of the analysis. (source: {} \xE2\x86\x92 {})",
                  Code(finding.source_file), Code(finding.source_cell));
  text.reasoning = "It rests on what was added with it.";
  text.resolution =
      finding.by_hand->change.empty()
          ? "No change was given that could be simulated."
          : fmt::format("The change that was simulated: {}.", Code(finding.by_hand->change, 200));
  for (const TextField& field : kTextFields) {
    const auto given = finding.by_hand->texts.find(std::string(field.name));
    if (given != finding.by_hand->texts.end()) text.*field.member = ProseOfText(given->second);
  }
  return text;
}

std::string AddedSaves(const findings::Analysis& analysis, const findings::Finding& finding,
                       const std::optional<findings::WallSaving>& wall) {
  if (!wall || wall->ms.high <= 0) return "";
  return fmt::format("Saves {} {} with the change {}.", EachRange(analysis, wall->ms),
                     UnitPhrase(analysis), Code(finding.by_hand->change, 200));
}

std::string PlaceOf(const findings::Analysis& analysis, std::string_view id) {
  const findings::Finding* finding = analysis.FindFinding(id);
  return finding == nullptr ? std::string(id) : fmt::format("{}", finding->global_rank);
}

std::string DerivedTable(const findings::Analysis& analysis) {
  MarkdownTable table({"Figure", "Value", "Question to the tables of `query`"});
  for (const findings::DerivedFigure& one : analysis.derived) {
    const std::string value = !one.value
                                  ? std::string(kAbsentText)
                                  : fmt::format("{} {}", Digits(*one.value), CellOfText(one.unit));
    table.Row({CellOfText(one.name), value, Code(one.sql)});
  }
  return table.empty() ? "" : table.text() + "\n";
}

}  // namespace jarvis::documents
