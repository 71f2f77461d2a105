#include "documents/copy_text.h"

#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/markdown_text.h"
#include "documents/remedy_text.h"

namespace jarvis::documents {
namespace {

std::span<const findings::Fact> FactsOfCopies(const findings::Finding& finding) {
  if (finding.patterns.empty()) return {};
  return finding.patterns.front().facts;
}

}  // namespace

std::optional<double> CopyCallsMs(const findings::Finding& finding) {
  return findings::NumberOf(FactsOfCopies(finding), "calls_ms");
}

std::string InCalls(const findings::Finding& finding) {
  std::vector<std::string> copies;
  for (const findings::Fact& fact : FactsOfCopies(finding)) {
    if (fact.key == "large_copy") copies.push_back(FactText(fact));
    if (fact.key == "its_rate" && !copies.empty()) copies.back() += " at " + FactText(fact);
  }
  if (copies.empty()) return " in " + Calls(finding.count);
  return fmt::format(", nearly all of it in {} of {}: {}", copies.size(), Calls(finding.count),
                     fmt::join(copies, ", "));
}

bool IsCopy(findings::Pattern pattern) {
  return pattern == findings::Pattern::kHighH2dMemcpy ||
         pattern == findings::Pattern::kHighD2hMemcpy;
}

std::string CopiesText(std::string_view subject) {
  if (subject == "H2D copies") return "Host-to-device copies";
  return subject == "D2H copies" ? "Device-to-host copies" : Capitalised(Words(subject));
}

}  // namespace jarvis::documents
