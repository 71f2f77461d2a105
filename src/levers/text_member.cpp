#include "levers/text_member.h"

#include <fmt/format.h>

#include "base/text.h"
#include "levers/placeholders.h"

namespace jarvis::levers {
namespace {

constexpr std::size_t kTextBytesMax = 2000;

}  // namespace

tl::unexpected<Error> At::Bad(std::string_view key, std::string_view expected) const {
  std::string place(file);
  if (!id.empty()) place += fmt::format(", fix {}", OneLine(Utf8Prefix(id, kNameShown)));
  if (!key.empty()) place += fmt::format(", \"{}\"", OneLine(Utf8Prefix(key, kNameShown)));
  return Fail(ErrorCode::kBadValue, fmt::format("{}: expected {}", place, expected));
}

Result<std::string> TextIn(const At& at, std::string_view key,
                           const simdjson::dom::element& value) {
  std::string text;
  std::string_view line;
  simdjson::dom::array lines;
  if (value.get(line) == simdjson::SUCCESS) {
    text = line;
  } else if (value.get(lines) == simdjson::SUCCESS) {
    for (const simdjson::dom::element item : lines) {
      if (item.get(line) != simdjson::SUCCESS) return at.Bad(key, "a text or a list of texts");
      if (!text.empty()) text += ' ';
      text += line;
    }
  } else {
    return at.Bad(key, "a text or a list of texts");
  }
  if (text.empty() || text != Trim(text) || text.size() > kTextBytesMax) {
    return at.Bad(key,
                  fmt::format("a text of 1 to {} bytes without blanks around it", kTextBytesMax));
  }
  if (text != OneLine(text)) return at.Bad(key, "a text without line ends and control characters");
  if (!IsWellFormed(text)) return at.Bad(key, "{braces} and [[double brackets]] that are closed");
  return text;
}

Result<simdjson::dom::object> ObjectIn(const At& at, simdjson::dom::parser* parser,
                                       std::string_view json) {
  simdjson::dom::element document;
  simdjson::dom::object fields;
  if (ParseDom(parser, json, &document) != simdjson::SUCCESS ||
      document.get(fields) != simdjson::SUCCESS)
    return at.Bad("", "a JSON object");
  return fields;
}

}  // namespace jarvis::levers
