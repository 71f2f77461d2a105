#include "trace/recorded_setting.h"

#include <simdjson.h>

#include "base/dom_parse.h"

namespace jarvis::trace {
namespace {

constexpr int kSettingDepthMax = 16;
constexpr std::size_t kSettingLengthMax = 64;

std::optional<std::string> SettingIn(simdjson::dom::element value, std::string_view name,
                                     int depth) {
  simdjson::dom::object object;
  simdjson::dom::array array;
  if (depth > kSettingDepthMax) return {};
  if (!value.get_object().get(object)) {
    for (const simdjson::dom::key_value_pair member : object) {
      std::string_view text;
      if (member.key == name && !member.value.get_string().get(text)) {
        if (text.size() <= kSettingLengthMax) return std::string(text);
        return {};
      }
      if (auto found = SettingIn(member.value, name, depth + 1)) return found;
    }
  } else if (!value.get_array().get(array)) {
    for (const simdjson::dom::element element : array) {
      if (auto found = SettingIn(element, name, depth + 1)) return found;
    }
  }
  return {};
}

}  // namespace

std::optional<std::string> RecordedSetting(const Metadata& metadata, std::string_view name) {
  simdjson::dom::parser parser;
  for (const TopLevelValue& value : metadata.values) {
    // Most members are short: parsed are those alone that are it or hold the name.
    const bool itself = value.key == name;
    if (!itself && value.json.find(name) == std::string::npos) continue;
    simdjson::dom::element element;
    if (ParseDom(&parser, value.json, &element)) continue;
    std::string_view text;
    if (itself && !element.get_string().get(text) && text.size() <= kSettingLengthMax)
      return std::string(text);
    if (auto found = SettingIn(element, name, 0)) return found;
  }
  return {};
}

}  // namespace jarvis::trace
