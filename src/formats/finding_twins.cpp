#include "formats/finding_twins.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/additions.h"
#include "formats/json_parts.h"
#include "output/number_format.h"

namespace jarvis::formats {
namespace {

using findings::Finding;
using findings::Range;

Json RangeJson(const std::optional<Range>& range, const char* unit) {
  if (!range) return nullptr;
  return {{"low", output::Rounded(range->low)},
          {"mid", output::Rounded(range->mid)},
          {"high", output::Rounded(range->high)},
          {"unit", unit}};
}

Json TextsOf(const documents::FindingText& text) {
  Json texts = Json::object();
  for (const documents::TextField& field : documents::kTextFields)
    texts[std::string(field.name)] = text.*field.member;
  return texts;
}

Json EntryOf(const findings::Analysis& analysis, const Finding& finding,
             const documents::TextEdits& edits) {
  Json entry = {{"finding", finding.id},
                {"trace_id", analysis.trace_id},
                {"rank", finding.rank},
                {"global_rank", finding.global_rank},
                {"category", finding.category},
                {"tier", findings::TierText(finding.tier)},
                {"subject", ValidUtf8(finding.subject)},
                {"subject_args", ValidUtf8(finding.subject_args)},
                {"bound_type", findings::BoundText(finding.bound)},
                {"library", finding.library.empty() ? Json() : Json(finding.library)},
                {"eff_bucket", finding.bucket.empty() ? "unknown" : finding.bucket},
                {"efficiency_percent", Number(finding.efficiency)},
                {"estimate_method", findings::MethodText(finding.method)},
                {"impact", RangeJson(finding.impact_percent, "% E2E")},
                {"savings_ms", RangeJson(finding.savings_ms, "ms")},
                {"time_ms", Number(finding.time_ms)},
                {"exclusive_ms", Number(finding.exclusive_ms)},
                {"count", finding.count},
                {"members", Beginning(finding.members)},
                {"row_ids", Beginning(finding.row_ids)},
                {"priority_class", findings::PriorityText(finding.priority)},
                {"replay_recommended", finding.replay_recommended},
                {"overlaps_with", finding.overlaps_with},
                {"warnings", finding.warnings}};
  if (finding.members.size() > findings::kListedMost)
    entry["member_count"] = finding.members.size();
  entry["patterns"] = Json::array();
  for (const findings::PatternHit& hit : finding.patterns)
    entry["patterns"].push_back(findings::Info(hit.pattern).key);
  entry["source"] = {{"file", finding.source_file}, {"keys", Json::array({finding.source_cell})}};
  const auto found = edits.find(finding.id);
  const bool by_hand = finding.by_hand != nullptr;
  entry["text_origin"] = found == edits.end() && !by_hand ? "draft" : "llm";
  entry["edited"] = Json::array();
  if (by_hand) {
    for (const auto& [field, text] : finding.by_hand->texts)
      entry["edited"].push_back(field);
  }
  if (found != edits.end()) {
    for (const auto& [field, text] : found->second)
      entry["edited"].push_back(field);
  }
  entry["text"] = TextsOf(documents::TextOf(analysis, finding, edits));
  return entry;
}

const Finding* SameFinding(const Json& entry, const findings::Analysis& analysis) {
  const auto is = [&](const char* name, const Json& value) {
    const auto found = entry.find(name);
    return found != entry.end() && *found == value;
  };
  const auto found =
      std::find_if(analysis.findings.begin(), analysis.findings.end(), [&](const Finding& finding) {
        return is("trace_id", analysis.trace_id) && is("category", finding.category) &&
               is("rank", finding.rank) && is("subject", ValidUtf8(finding.subject));
      });
  return found == analysis.findings.end() ? nullptr : &*found;
}

}  // namespace

Json TwinOf(const findings::Analysis& analysis, const std::string& category,
            const documents::TextEdits& edits) {
  Json twin = Json::array();
  for (const Finding& finding : analysis.findings) {
    if (finding.category == category) twin.push_back(EntryOf(analysis, finding, edits));
  }
  return twin;
}

void ReadTwin(const Json& twin, const findings::Analysis& analysis, documents::TextEdits* edits,
              std::vector<std::string>* dropped) {
  if (!twin.is_array()) return;
  for (const Json& entry : twin) {
    if (!entry.is_object()) continue;
    // What was added has its words with it, in the options of the directory.
    const Json id = entry.value("finding", Json());
    if (id.is_string() && findings::IsAddedId(id.get<std::string>())) continue;
    const Json edited = entry.value("edited", Json::array());
    const Json texts = entry.value("text", Json::object());
    if (!edited.is_array() || edited.empty() || !texts.is_object()) continue;
    const Finding* finding = SameFinding(entry, analysis);
    if (finding == nullptr) {
      dropped->push_back(fmt::format("texts written for {}, which this analysis does not have",
                                     DumpLine(entry.value("finding", Json()))));
      continue;
    }
    for (const documents::TextField& field : documents::kTextFields) {
      const std::string name(field.name);
      const bool is_edited = std::find(edited.begin(), edited.end(), Json(name)) != edited.end();
      const auto text = texts.find(name);
      if (is_edited && text != texts.end() && text->is_string()) {
        (*edits)[finding->id][name] = text->get<std::string>();
      }
    }
  }
}

}  // namespace jarvis::formats
