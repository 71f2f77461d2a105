#include "mcp/schema.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "mcp/closest_match.h"
#include "mcp/schema_rules.h"

namespace jarvis::mcp {
namespace {

using schema_rules::CheckBounds;
using schema_rules::ElementPath;
using schema_rules::HasType;
using schema_rules::MemberPath;
using schema_rules::Mismatch;
using schema_rules::TypeFits;

// What a string may stand for where the schema wants no string.
Json FromString(const Json& schema, const std::string& text) {
  const bool wants_number = HasType(schema, "number");
  if (wants_number || HasType(schema, "integer")) {
    if (const auto integer = ParseInt(text)) return *integer;
    const auto number = ParseDouble(text);
    if (wants_number && number && std::isfinite(*number)) return *number;
  }
  if (HasType(schema, "boolean")) {
    if (EqualsNoCase(text, "true")) return true;
    if (EqualsNoCase(text, "false")) return false;
  }
  // A list or an object that was printed before it was sent; one text where several may stand.
  const bool wants_list = HasType(schema, "array");
  if ((wants_list && text.starts_with('[')) ||
      (HasType(schema, "object") && text.starts_with('{'))) {
    if (auto parsed = ParseJson(text)) return std::move(*parsed);
  }
  const Json* const items = wants_list ? FindMember(schema, "items") : nullptr;
  if (items != nullptr && HasType(*items, "string")) return Json::array({text});
  return text;
}

// The harmless forms of a value, in the form that the schema names.
Json Converted(const Json& schema, Json value) {
  if (value.is_string() && !HasType(schema, "string")) {
    value = FromString(schema, value.get<std::string>());
  }
  if (value.is_number_float() && HasType(schema, "integer") && !HasType(schema, "number")) {
    const double number = value.get<double>();
    constexpr double kExactMax = 9007199254740992.0;  // 2^53: every integer below is itself
    if (std::trunc(number) == number && std::abs(number) <= kExactMax) {
      value = static_cast<std::int64_t>(number);
    }
  }
  const Json* values = FindMember(schema, "enum");
  if (values == nullptr || !value.is_string()) return value;
  if (std::find(values->begin(), values->end(), value) != values->end()) return value;
  const std::string given = value.get<std::string>();
  for (const Json& allowed : *values) {
    if (allowed.is_string() && EqualsNoCase(allowed.get<std::string>(), given)) return allowed;
  }
  return value;
}

class Normalizer {
 public:
  // The walk is as deep as the schema at most, whatever the value is.
  Result<Json> Value(const Json& schema, const Json& given, const std::string& path) {
    Json value = Converted(schema, given);
    if (!TypeFits(schema, value)) return Mismatch(path, schema, given);
    if (value.is_string() && value.get_ref<const std::string&>().size() > kStringBytesMax) {
      return Fail(ErrorCode::kBadValue,
                  path + ": expected at most 1 MiB of text, received " + Excerpt(value));
    }
    if (value.is_object()) return Object(schema, value, path);
    JV_TRY(CheckBounds(schema, value, path));
    const Json* items = FindMember(schema, "items");
    if (!value.is_array() || items == nullptr) return value;
    for (std::size_t i = 0; i < value.size(); ++i) {
      JV_ASSIGN(value[i], Value(*items, value[i], ElementPath(path, i)));
    }
    return value;
  }

  std::vector<std::string> TakeNotes() { return std::move(notes_); }

 private:
  // Members come out in the schema's order, so equal questions are equal values.
  Result<Json> Object(const Json& schema, const Json& given, const std::string& path) {
    const Json* properties = FindMember(schema, "properties");
    JV_TRY(CheckNames(schema, given));
    Json value = Json::object();
    if (properties != nullptr) {
      for (const auto& [name, property] : properties->items()) {
        JV_TRY(Member(schema, name, property, given, path, value));
      }
    }
    for (const auto& [name, member] : given.items()) {
      if (properties == nullptr || !properties->contains(name)) value[name] = member;
    }
    return value;
  }

  Status Member(const Json& schema, const std::string& name, const Json& property,
                const Json& given, const std::string& path, Json& value) {
    const Json* member = FindMember(given, name.c_str());
    if (member != nullptr && member->is_null() && !TypeFits(property, *member)) member = nullptr;
    if (member == nullptr) {
      if (const Json* fallback = FindMember(property, "default"); fallback != nullptr) {
        value[name] = *fallback;
        return {};
      }
      return CheckPresent(schema, name, property, path);
    }
    const Json lowered = Lowered(name, property, *member);
    JV_ASSIGN(value[name], Value(property, lowered, MemberPath(path, name)));
    return {};
  }

  static Status CheckPresent(const Json& schema, const std::string& name, const Json& property,
                             const std::string& path) {
    const Json* required = FindMember(schema, "required");
    if (required == nullptr ||
        std::find(required->begin(), required->end(), Json(name)) == required->end()) {
      return {};
    }
    const Json* description = FindMember(property, "description");
    return Fail(ErrorCode::kBadValue,
                MemberPath(path, name) + " is missing: expected " + Expected(property) +
                    (description == nullptr ? "" : " (" + description->get<std::string>() + ")"));
  }

  static Status CheckNames(const Json& schema, const Json& given) {
    const Json* additional = FindMember(schema, "additionalProperties");
    if (additional == nullptr || *additional != false) return {};
    const std::vector<std::string> names = PropertyNames(schema);
    for (const auto& [name, ignored] : given.items()) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      std::string message = "No argument is named " + Excerpt(name) + ".";
      if (const auto closest = ClosestMatch(name, names)) {
        message += " Did you mean \"" + *closest + "\"?";
      }
      message +=
          names.empty() ? " There are no arguments." : " Arguments: " + JoinNames(names) + ".";
      return Fail(ErrorCode::kUnknownArgument, std::move(message));
    }
    return {};
  }

  // Asking for more rows than there may be is harmless.
  Json Lowered(const std::string& name, const Json& property, const Json& given) {
    const Json* maximum = FindMember(property, "maximum");
    if (name != "limit" || maximum == nullptr) return given;
    const Json value = Converted(property, given);
    if (!value.is_number() || value <= *maximum) return given;
    notes_.push_back("limit " + Excerpt(value) + " was lowered to " + maximum->dump() +
                     ", the maximum.");
    return *maximum;
  }

  std::vector<std::string> notes_;
};

Status ValidateAt(const Json& schema, const Json& value, const std::string& path) {
  if (!TypeFits(schema, value)) return Mismatch(path, schema, value);
  JV_TRY(CheckBounds(schema, value, path));
  if (const Json* items = FindMember(schema, "items"); value.is_array() && items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      JV_TRY(ValidateAt(*items, value[i], ElementPath(path, i)));
    }
  }
  if (!value.is_object()) return {};
  if (const Json* required = FindMember(schema, "required"); required != nullptr) {
    for (const Json& name : *required) {
      if (value.contains(name.get<std::string>())) continue;
      return Fail(ErrorCode::kBadValue, MemberPath(path, name.get<std::string>()) + " is missing");
    }
  }
  const Json* additional = FindMember(schema, "additionalProperties");
  for (const auto& [name, member] : value.items()) {
    const Json* properties = FindMember(schema, "properties");
    const Json* property = properties == nullptr ? nullptr : FindMember(*properties, name.c_str());
    if (property == nullptr && additional != nullptr && *additional == false) {
      return Fail(ErrorCode::kUnknownArgument, MemberPath(path, name) + " is not in the schema");
    }
    if (property == nullptr && additional != nullptr && additional->is_object()) {
      property = additional;
    }
    if (property != nullptr) JV_TRY(ValidateAt(*property, member, MemberPath(path, name)));
  }
  return {};
}

}  // namespace

Result<Normalized> Normalize(const Json& schema, const Json& arguments) {
  JV_CHECK(arguments.is_object());
  Normalizer normalizer;
  Normalized normalized;
  JV_ASSIGN(normalized.value, normalizer.Value(schema, arguments, ""));
  normalized.notes = normalizer.TakeNotes();
  return normalized;
}

Status Validate(const Json& schema, const Json& value) {
  return ValidateAt(schema, value, "");
}

}  // namespace jarvis::mcp
