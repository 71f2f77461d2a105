#include "app/install_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/install_edit.h"

namespace jarvis::app {
namespace {

constexpr int kIndent = 2;

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Printed as the old text is: its indentation, on one line if it was, with or without a last line
// end.
std::string PrintedLike(const Json& value, std::string_view old) {
  int indent = kIndent;
  char indent_char = ' ';
  const std::string_view body = old.substr(0, old.find_last_not_of(" \t\r\n") + 1);
  const std::size_t line = body.find('\n');
  if (line != std::string_view::npos) {
    const std::size_t first = std::min(body.find_first_not_of(" \t\r\n", line), body.size());
    const std::size_t line_start = body.rfind('\n', first) + 1;
    const std::string_view blanks = body.substr(line_start, first - line_start);
    if (!blanks.empty()) {
      indent = static_cast<int>(std::min<std::size_t>(blanks.size(), 8));
      indent_char = blanks.front();
    }
  } else if (body.size() > 2) {  // more than {}
    indent = -1;
  }
  std::string text = value.dump(indent, indent_char);
  if (body.empty() || body.size() < old.size()) text += '\n';
  return text;
}

// Ours first, then what the user added.
Json Merged(const Json& ours, const Json& old) {
  Json merged = ours;
  if (!old.is_object()) return merged;
  for (const auto& [name, value] : old.items()) {
    if (!IsPlaceMember(name)) merged[name] = value;
  }
  return merged;
}

}  // namespace

Result<std::string> EditJson(std::string_view servers, const std::string& text, const Json& entry) {
  Json root = Json::object();
  if (!IsBlank(text)) {
    JV_ASSIGN(root, ParseJson(text));
  }
  if (!root.is_object()) return Fail(ErrorCode::kBadValue, "it is not a JSON object");
  const std::string key(servers);
  const auto found = root.find(key);
  if (found != root.end() && !found->is_object()) {
    return Fail(ErrorCode::kBadValue, fmt::format("its \"{}\" is not an object", key));
  }
  const std::string name(kServerName);
  const Json old = found != root.end() ? found->value(name, Json()) : Json();
  const Json wanted = entry.is_null() ? Json() : Merged(entry, old);
  // Members in another order are no reason to write.
  if (EqualInAnyOrder(wanted, old)) return text;
  if (entry.is_null()) {
    root[key].erase(name);
  } else {
    root[key][name] = wanted;
  }
  return PrintedLike(root, text);
}

}  // namespace jarvis::app
