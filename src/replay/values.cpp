#include "replay/values.h"

#include <cmath>

#include "base/text.h"

namespace jarvis::replay {
namespace {

std::optional<Json> BoolOf(std::string_view text) {
  if (EqualsNoCase(text, "true")) return Json(true);
  if (EqualsNoCase(text, "false")) return Json(false);
  return std::nullopt;
}

std::optional<Json> IntOf(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (const auto value = ParseInt(text)) return Json(*value);
  return std::nullopt;
}

std::optional<Json> FloatOf(std::string_view text) {
  for (const std::string_view special : {"inf", "-inf", "nan"}) {
    if (EqualsNoCase(text, special)) return Json(std::string(special));
  }
  const auto value = ParseDouble(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return Json(*value);
}

std::optional<Json> ScalarOf(std::string_view text) {
  if (auto value = IntOf(text)) return value;
  if (auto value = BoolOf(text)) return value;
  return FloatOf(text);
}

bool IsInteger(std::string_view base) {
  // The last four are enumerations, which the profiler writes as their numbers.
  for (const std::string_view name : {"int", "SymInt", "ScalarType", "Layout", "MemoryFormat"}) {
    if (base == name) return true;
  }
  return false;
}

std::optional<Json> ElementOf(std::string_view base, std::string_view text) {
  if (base == "bool") return BoolOf(text);
  if (IsInteger(base)) return IntOf(text);
  if (base == "float") return FloatOf(text);
  if (base == "Scalar" || base == "number") return ScalarOf(text);
  return std::nullopt;
}

std::optional<Json> ListOf(std::string_view base, std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  Json list = Json::array();
  text = Trim(text.substr(1, text.size() - 2));
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    auto element = ElementOf(base, Trim(text.substr(0, comma)));
    if (!element) return std::nullopt;
    list.push_back(std::move(*element));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return list;
}

}  // namespace

std::optional<Json> ValueOf(const ArgType& type, std::string_view text) {
  text = Trim(text);
  if (!type.list) return ElementOf(type.base, text);
  if (auto list = ListOf(type.base, text)) return list;
  // int[2] takes a plain number too.
  return type.list_size ? ElementOf(type.base, text) : std::nullopt;
}

std::optional<Json> DefaultOf(const SchemaArg& arg) {
  if (!arg.default_text) return std::nullopt;
  const std::string_view text = *arg.default_text;
  if (text == "None") return Json(nullptr);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'')) {
    return Json(std::string(text.substr(1, text.size() - 2)));
  }
  return ValueOf(arg.type, text);
}

}  // namespace jarvis::replay
