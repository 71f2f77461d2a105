#include "documents/first_screen.h"

#include <algorithm>

#include "base/text.h"
#include "documents/markdown_text.h"
#include "phrases/ids/front.h"
#include "phrases/phrase.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kFirstFixes = 5;

void Replace(std::string_view what, std::string_view with, std::string* text) {
  for (std::size_t at = text->find(what); at != std::string::npos;
       at = text->find(what, at + with.size()))
    text->replace(at, what.size(), with);
}

// All of it up to where the next one begins, without what stands in brackets, unless that is code.
std::string FirstSentence(std::string_view text) {
  const std::string_view sentence = text.substr(0, std::min(text.find(". "), text.size() - 1) + 1);
  std::string brief;
  bool code = false;
  int open = 0;
  for (const char c : sentence) {
    code ^= c == '`';
    if (!code && c == '(') ++open;
    if (open == 0) brief += c;
    if (!code && c == ')' && open > 0 && --open == 0 && brief.ends_with(' ')) brief.pop_back();
  }
  return open == 0 ? brief : std::string(sentence);
}

}  // namespace

std::string PlainLine(std::string_view markdown) {
  std::string text = OneLine(markdown);
  Replace("<br>", " ", &text);
  Replace("&lt;", "<", &text);
  Replace("\\|", "|", &text);
  Replace("\\[", "[", &text);
  return text;
}

std::string BarName(const std::string& part) {
  constexpr std::string_view kWork = "GPU: ", kIdle = "GPU ";
  std::string text = WithoutEmphasis(PlainLine(part));
  if (text.starts_with(kWork)) return text.substr(kWork.size());
  return text.starts_with(kIdle) ? text.substr(kIdle.size()) : text;
}

std::vector<const FixRow*> FirstFixRows(const Front& front) {
  std::vector<const FixRow*> rows;
  for (const FixRow& row : front.fixes) {
    if (rows.size() < kFirstFixes && row.ways.front().path != '\0') rows.push_back(&row);
  }
  return rows;
}

std::string NumberOf(const FixRow& row) {
  return !row.findings.empty() && row.number != kAbsentText ? row.number : "-";
}

std::string FirstAction(const FixRow& row) {
  constexpr std::string_view kNext = "; ";
  const std::string& action = row.ways.front().action;
  std::size_t count = 0, end = std::string::npos;
  int open = 0;
  for (std::size_t i = 0; i < action.size(); ++i) {
    open += action[i] == '(' ? 1 : action[i] == ')' ? -1 : 0;
    if (open != 0 || action.compare(i, kNext.size(), kNext) != 0) continue;
    end = std::min(end, i);
    ++count;
  }
  if (count == 0) return action + ".";
  return Say(phrases::front::kAndMore, {{"action", action.substr(0, end)}, {"count", count}}) + ".";
}

std::string FirstTrust(const Front& front) {
  if (front.trust.empty()) return {};
  const std::size_t more = front.trust.size() - 1 + front.summary.size() - front.brief;
  const std::string told = more == 0 ? "" : Say(phrases::front::kTrustMore, {{"count", more}});
  return Say(phrases::front::kTrustFirst,
             {{"first", FirstSentence(front.trust.front())}, {"more", told}});
}

}  // namespace jarvis::documents
