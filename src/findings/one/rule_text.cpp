#include "findings/one/rule_text.h"

#include <algorithm>

#include "base/text.h"

namespace jarvis::findings {
namespace {

// A stretch of a rule's text without brackets; `all`: every key had a fact.
std::string FillPart(std::string_view text, std::span<const Fact> facts,
                     std::string (*write)(const Fact&), bool* all) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == text.npos ? text.npos : text.find('}', open);
    out += text.substr(at, close == text.npos ? text.npos : open - at);
    if (close == text.npos) break;
    const std::string_view key = text.substr(open + 1, close - open - 1);
    const auto fact =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& one) { return one.key == key; });
    const std::string value = fact == facts.end() ? std::string() : write(*fact);
    // A place may be unknown: the sentence stands without it.
    *all = *all && fact != facts.end() && (!value.empty() || fact->unit == "place");
    out += fact == facts.end() ? "?" : value;
    at = close + 1;
  }
  return out;
}

}  // namespace

std::string FillRule(std::string_view text, std::span<const Fact> facts,
                     std::string (*write)(const Fact&)) {
  std::string out;
  bool all = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find("[[", at);
    const std::size_t close = open == text.npos ? text.npos : text.find("]]", open);
    out +=
        FillPart(text.substr(at, close == text.npos ? text.npos : open - at), facts, write, &all);
    if (close == text.npos) break;
    all = true;
    const std::string part = FillPart(text.substr(open + 2, close - open - 2), facts, write, &all);
    if (all) out += part;
    at = close + 2;
  }
  return std::string(Trim(out));
}

}  // namespace jarvis::findings
