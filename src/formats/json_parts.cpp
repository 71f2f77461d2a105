#include "formats/json_parts.h"

#include <algorithm>

#include "formats/analysis_json.h"
#include "output/number_format.h"

namespace jarvis::formats {

using findings::Analysis;
using findings::Finding;
using findings::Range;

Json Number(double value) {
  return output::Rounded(value);
}
Json Number(const std::optional<double>& value) {
  return value ? Json(output::Rounded(*value)) : Json(nullptr);
}
Json TextOrNull(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(text);
}
Json TextList(const std::vector<std::string>& texts) {
  return texts.empty() ? Json::array() : Json(texts);
}

Json Beginning(const std::vector<std::string>& texts) {
  if (texts.size() <= findings::kListedMost) return TextList(texts);
  return TextList({texts.begin(), texts.begin() + findings::kListedMost});
}

void AddImpact(const std::optional<Range>& impact, Json* out) {
  (*out)["impact_score"] = impact ? Number(impact->mid) : Json(nullptr);
  (*out)["impact_score_low"] = impact ? Number(impact->low) : Json(nullptr);
  (*out)["impact_score_high"] = impact ? Number(impact->high) : Json(nullptr);
}

Json MetricsHead(std::string_view category, bool data) {
  return {{"schema_version", 1},
          {"category", category},
          {"status", data ? "OK" : "NO_DATA"},
          {"comparison_scope", "standalone"}};
}

Json FindingsOf(const Analysis& analysis, std::string_view category) {
  Json out = Json::array();
  std::vector<const Finding*> mine;
  for (const Finding& finding : analysis.findings) {
    if (finding.category == category) mine.push_back(&finding);
  }
  std::sort(mine.begin(), mine.end(),
            [](const Finding* a, const Finding* b) { return a->rank < b->rank; });
  for (const Finding* finding : mine)
    out.push_back(FindingJson(*finding));
  return out;
}

}  // namespace jarvis::formats
