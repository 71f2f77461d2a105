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

// The fact that is named between braces: what stands before the words to choose from.
std::string_view KeyOf(std::string_view braced) {
  return braced.substr(0, braced.find('|'));
}

void AddKeys(const Part& part, std::vector<Placeholder>* out) {
  for (std::size_t at = part.text.find('{'); at != part.text.npos; at = part.text.find('{', at)) {
    const std::size_t close = part.text.find('}', at);
    if (close == part.text.npos) return;
    out->push_back({std::string(KeyOf(part.text.substr(at + 1, close - at - 1))), part.optional});
    at = close;
  }
}

// "rows|one row|# rows" of 3: "3 rows".
std::string Chosen(std::string_view braced, const std::string& value) {
  const std::size_t bar = braced.find('|');
  if (bar == braced.npos) return value;
  const std::string_view words = braced.substr(bar + 1);
  const std::size_t second = words.find('|');
  const bool one = value == "1" || value == "true";
  const std::string_view chosen = one                    ? words.substr(0, second)
                                  : second == words.npos ? ""
                                                         : words.substr(second + 1);
  std::string out;
  for (const char c : chosen)
    out += c == '#' ? value : std::string(1, c);
  return out;
}

// A part without brackets; *known: all that it names is.
std::string FillPart(std::string_view text, const std::function<Filling(std::string_view key)>& of,
                     bool* known) {
  std::string out;
  *known = true;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = open == text.npos ? text.npos : text.find('}', open);
    if (close == text.npos) return out += text;
    const std::string_view braced = text.substr(open + 1, close - open - 1);
    const Filling value = of(KeyOf(braced));
    *known = *known && value.known;
    out += text.substr(0, open);
    out += Chosen(braced, value.text);
    text.remove_prefix(close + 1);
  }
  return out;
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

std::string Fill(std::string_view text, const std::function<Filling(std::string_view key)>& of) {
  std::string out;
  for (const Part& part : PartsOf(text)) {
    bool known = false;
    const std::string filled = FillPart(part.text, of, &known);
    if (known || !part.optional) out += filled;
  }
  return out;
}

bool IsWellFormed(std::string_view text) {
  bool brackets = false, brace = false;
  int bars = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view two = text.substr(i, 2);
    if (two == "[[" || two == "]]") {
      if (brace || brackets == (two == "[[")) return false;
      brackets = !brackets;
      ++i;
    } else if (text[i] == '{' || text[i] == '}') {
      if (brace == (text[i] == '{')) return false;
      if (brace && (text[i - 1] == '{' || bars > 2)) return false;
      brace = !brace;
      bars = 0;
    } else if (brace && text[i] == '|') {
      if (text[i - 1] == '{') return false;
      ++bars;
    }
  }
  return !brackets && !brace;
}

}  // namespace jarvis::levers
