#include "page/script_text.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::page {
namespace {

constexpr std::size_t kNameBytesMax = 180;

}  // namespace

std::string ScriptString(std::string_view text, std::size_t bytes_max) {
  std::string plain = OneLine(ValidUtf8(text));
  if (bytes_max > 0) plain = Shortened(plain, bytes_max);
  const std::string inside = trace::Escape(plain);
  std::string safe = "\"";
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const std::string_view rest = std::string_view(inside).substr(i);
    if (inside[i] == '<') {
      safe += "\\u003c";
    } else if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {
      safe += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += inside[i];
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

std::string ScriptNames::Json() const {
  std::string json = "[";
  for (StringId id = 0; id < pool_.size(); ++id)
    json += (id == 0 ? "" : ",") + ScriptString(pool_[id], kNameBytesMax);
  return json + "]";
}

}  // namespace jarvis::page
