#include "page/script_text.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::page {
namespace {

constexpr std::size_t kNameBytesMax = 180;
constexpr std::size_t kNamesMany = 5000;  // from here on names are cut shorter
constexpr std::size_t kNameBytesOfMany = 60;

}  // namespace

std::string ScriptString(std::string_view text, std::size_t bytes_max) {
  std::string plain = OneLine(ValidUtf8(text));
  if (bytes_max > 0) plain = Shortened(plain, bytes_max);
  std::string safe = "\"";
  for (const char c : trace::Escape(plain)) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe + "\"";
}

void AppendNumber(std::int64_t value, std::string* list) {
  if (!list->empty() && list->back() != '[') *list += ',';
  const fmt::format_int digits(value);
  list->append(digits.data(), digits.size());
}

std::string ScriptNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

std::int64_t ScriptNames::OfEvent(const trace::EventStore& events, trace::EventIndex e) {
  const auto [known, added] = of_event_names_.try_emplace(events[e].name, 0);
  if (added) known->second = Of(events.name(e));
  return known->second;
}

std::int64_t ScriptNames::Shown(std::int64_t name) {
  const auto [known, added] = shown_as_.try_emplace(name, static_cast<std::int64_t>(shown_.size()));
  if (added) shown_.push_back(static_cast<StringId>(name));
  return known->second;
}

std::string ScriptNames::Json() const {
  const std::size_t most = shown_.size() > kNamesMany ? kNameBytesOfMany : kNameBytesMax;
  std::string json = "[";
  for (const StringId name : shown_)
    json += (json.size() > 1 ? "," : "") + ScriptString(pool_[name], most);
  return json + "]";
}

}  // namespace jarvis::page
