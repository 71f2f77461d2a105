#include "levers/placeholders.h"

#include <algorithm>

namespace jarvis::levers {
namespace {

// A stretch of a text: an optional part without its brackets, or what stands between two.
struct Part {
  std::string_view text;
  bool optional = false;
};

std::vector<Part> PartsOf(std::string_view text) {
  std::vector<Part> parts;
  while (!text.empty()) {
    const std::size_t open = text.find("[[");
    const std::size_t close = open == text.npos ? text.npos : text.find("]]", open);
    if (close == text.npos) {
      parts.push_back({text, false});
      break;
    }
    if (open > 0) parts.push_back({text.substr(0, open), false});
    parts.push_back({text.substr(open + 2, close - open - 2), true});
    text.remove_prefix(close + 2);
  }
  return parts;
}

void AddKeys(const Part& part, std::vector<Placeholder>* out) {
  for (std::size_t at = part.text.find('{'); at != part.text.npos; at = part.text.find('{', at)) {
    const std::size_t close = part.text.find('}', at);
    if (close == part.text.npos) return;
    out->push_back({std::string(part.text.substr(at + 1, close - at - 1)), part.optional});
    at = close;
  }
}

// Where its first clause ends; npos: it goes on.
std::size_t ClauseEnd(std::string_view text, int* open) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    *open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ';' && *open == 0) return i;
    if (text[i] == '.' && (i + 1 == text.size() || text[i + 1] == ' ')) return i;
  }
  return text.npos;
}

}  // namespace

std::vector<Placeholder> PlaceholdersOf(std::string_view text) {
  std::vector<Placeholder> out;
  for (const Part& part : PartsOf(text))
    AddKeys(part, &out);
  return out;
}

std::vector<std::string> ShortFormFacts(std::string_view text) {
  std::vector<Placeholder> named;
  int open = 0;
  bool begun = false;  // words that are always said
  for (const Part& part : PartsOf(text)) {
    const std::size_t end = ClauseEnd(part.text, &open);
    AddKeys({part.text.substr(0, end), part.optional}, &named);
    begun = begun || (!part.optional && part.text.find_first_not_of(' ') != part.text.npos);
    if (end != part.text.npos && begun) break;
  }
  std::vector<std::string> keys;
  for (const Placeholder& one : named) {
    if (std::find(keys.begin(), keys.end(), one.key) == keys.end()) keys.push_back(one.key);
  }
  return keys;
}

bool IsWellFormed(std::string_view text) {
  bool brackets = false, brace = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view two = text.substr(i, 2);
    if (two == "[[" || two == "]]") {
      if (brace || brackets == (two == "[[")) return false;
      brackets = !brackets;
      ++i;
    } else if (text[i] == '{' || text[i] == '}') {
      if (brace == (text[i] == '{')) return false;
      if (brace && text[i - 1] == '{') return false;
      brace = !brace;
    }
  }
  return !brackets && !brace;
}

}  // namespace jarvis::levers
