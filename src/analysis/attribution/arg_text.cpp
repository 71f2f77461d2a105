#include "analysis/attribution/arg_text.h"

#include <vector>

#include "base/text.h"
#include "table/py_text.h"
#include "trace/json_text.h"

namespace jarvis::analysis {
namespace {

// The end of the scalar token that starts at `at`.
std::size_t TokenEnd(std::string_view json, std::size_t at) {
  if (json[at] == '"') {
    for (++at; at < json.size() && json[at] != '"'; ++at) {
      if (json[at] == '\\') ++at;
    }
    return std::min(at + 1, json.size());
  }
  while (at < json.size() && json[at] != ',' && json[at] != ']' && json[at] != '}')
    ++at;
  return at;
}

bool IsInteger(std::string_view token) {
  if (token.starts_with('-')) token.remove_prefix(1);
  return !token.empty() && token.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string ScalarText(std::string_view token) {
  token = Trim(token);
  if (token.empty()) return "''";
  if (token.front() == '"') return PyString(trace::Unescape(trace::Unquoted(token)));
  if (token == "true") return "True";
  if (token == "false") return "False";
  if (token == "null") return "None";
  if (IsInteger(token)) return std::string(token);
  if (const auto number = ParseDouble(token)) return PyFloat(*number);
  return PyString(token);
}

std::string PythonText(std::string_view json, bool tuples) {
  std::string out;
  std::vector<int> counts;  // elements so far in each open list; input decides the depth
  std::size_t at = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '[') {
      if (!counts.empty() && counts.back()++ > 0) out += ", ";
      out += tuples ? '(' : '[';
      counts.push_back(0);
      ++at;
    } else if (c == ']') {
      if (!counts.empty()) {
        if (tuples && counts.back() == 1) out += ',';
        counts.pop_back();
      }
      out += tuples ? ')' : ']';
      ++at;
    } else if (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      ++at;
    } else {
      const std::size_t end = std::max(TokenEnd(json, at), at + 1);
      if (!counts.empty() && counts.back()++ > 0) out += ", ";
      out += ScalarText(json.substr(at, end - at));
      at = end;
    }
  }
  return out;
}

}  // namespace

std::string TupleText(std::string_view json) {
  return PythonText(json, true);
}
std::string ListLiteral(std::string_view json) {
  return PythonText(json, false);
}

}  // namespace jarvis::analysis
