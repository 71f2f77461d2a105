#include "findings/one/rule_text.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "levers/placeholders.h"

namespace jarvis::findings {

std::string FillRule(std::string_view text, std::span<const Fact> facts,
                     std::string (*write)(const Fact&)) {
  const std::string filled = levers::Fill(text, [&](std::string_view key) -> levers::Filling {
    const auto fact =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& one) { return one.key == key; });
    if (fact == facts.end()) return {"?", false};
    std::string value = write(*fact);
    // A place may be unknown: the sentence stands without it.
    const bool known = !value.empty() || fact->unit == "place";
    return {std::move(value), known};
  });
  return std::string(Trim(filled));
}

}  // namespace jarvis::findings
