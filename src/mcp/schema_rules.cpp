#include "mcp/schema_rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "mcp/schema.h"

namespace jarvis::mcp {
namespace {

// In the unit that minLength counts in.
std::size_t CodePoints(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

bool IsIntegral(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>();
}

bool IsOfType(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return IsIntegral(value);
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

bool WithinCount(const Json& schema, const char* min_key, const char* max_key, std::size_t count) {
  const Json* min = FindMember(schema, min_key);
  const Json* max = FindMember(schema, max_key);
  return (min == nullptr || count >= min->get<std::size_t>()) &&
         (max == nullptr || count <= max->get<std::size_t>());
}

// Json compares integers of both signs and doubles by value.
bool WithinRange(const Json& schema, const Json& value) {
  const Json* min = FindMember(schema, "minimum");
  const Json* max = FindMember(schema, "maximum");
  return (min == nullptr || value >= *min) && (max == nullptr || value <= *max);
}

std::string Range(const Json& schema, const char* min_key, const char* max_key) {
  const Json* min = FindMember(schema, min_key);
  const Json* max = FindMember(schema, max_key);
  if (min != nullptr && max != nullptr) return " from " + min->dump() + " to " + max->dump();
  if (min != nullptr) return " of at least " + min->dump();
  if (max != nullptr) return " of at most " + max->dump();
  return {};
}

std::string Counted(const Json& schema, const char* min_key, const char* max_key,
                    const std::string& what) {
  const std::string range = Range(schema, min_key, max_key);
  return range.empty() ? range : " (" + what + range + ")";
}

std::string ExpectedType(const Json& schema, const std::string& type) {
  if (type == "integer") return "an integer" + Range(schema, "minimum", "maximum");
  if (type == "number") return "a number" + Range(schema, "minimum", "maximum");
  if (type == "string") {
    const Json* min = FindMember(schema, "minLength");
    const bool any_length = FindMember(schema, "maxLength") == nullptr;
    if (any_length && min != nullptr && *min == 1) return "a string that is not empty";
    return "a string" + Counted(schema, "minLength", "maxLength", "length");
  }
  if (type == "boolean") return "true or false";
  if (type == "null") return "null";
  if (type == "object") return "an object";
  const Json* items = FindMember(schema, "items");
  return "an array" + Counted(schema, "minItems", "maxItems", "length") +
         (items == nullptr ? "" : ", each element " + Expected(*items));
}

}  // namespace

namespace schema_rules {

std::vector<std::string> Types(const Json& schema) {
  const Json* type = FindMember(schema, "type");
  if (type == nullptr) return {};
  if (type->is_string()) return {type->get<std::string>()};
  return type->get<std::vector<std::string>>();
}

bool HasType(const Json& schema, std::string_view type) {
  const std::vector<std::string> types = Types(schema);
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool TypeFits(const Json& schema, const Json& value) {
  const std::vector<std::string> types = Types(schema);
  return types.empty() || std::any_of(types.begin(), types.end(), [&](const std::string& type) {
           return IsOfType(value, type);
         });
}

tl::unexpected<Error> Mismatch(const std::string& path, const Json& schema, const Json& received) {
  return Fail(ErrorCode::kBadValue, (path.empty() ? "the value" : path) + ": expected " +
                                        Expected(schema) + ", received " + Excerpt(received));
}

Status CheckBounds(const Json& schema, const Json& value, const std::string& path) {
  const Json* values = FindMember(schema, "enum");
  const Json* constant = FindMember(schema, "const");
  bool fits = true;
  if (values != nullptr) fits = std::find(values->begin(), values->end(), value) != values->end();
  if (constant != nullptr) fits = fits && value == *constant;
  if (value.is_number()) fits = fits && WithinRange(schema, value);
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    fits = fits && WithinCount(schema, "minLength", "maxLength", CodePoints(text));
  }
  if (value.is_array()) fits = fits && WithinCount(schema, "minItems", "maxItems", value.size());
  if (!fits) return Mismatch(path, schema, value);
  return {};
}

std::string MemberPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

std::string ElementPath(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

}  // namespace schema_rules

std::string Expected(const Json& schema) {
  if (const Json* constant = FindMember(schema, "const"); constant != nullptr)
    return constant->dump();
  std::string text;
  if (const Json* values = FindMember(schema, "enum"); values != nullptr) {
    for (const Json& value : *values) {
      text += text.empty() ? "one of: " : ", ";
      text += value.is_string() ? value.get<std::string>() : value.dump();
    }
    return text;
  }
  for (const std::string& type : schema_rules::Types(schema)) {
    if (!text.empty()) text += " or ";
    text += ExpectedType(schema, type);
  }
  return text.empty() ? "any value" : text;
}

std::vector<std::string> PropertyNames(const Json& schema) {
  std::vector<std::string> names;
  if (const Json* properties = FindMember(schema, "properties"); properties != nullptr) {
    for (const auto& [name, ignored] : properties->items())
      names.push_back(name);
  }
  return names;
}

}  // namespace jarvis::mcp
