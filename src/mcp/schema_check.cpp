#include "mcp/schema_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "mcp/schema_rules.h"

namespace jarvis::mcp {
namespace {

using schema_rules::MemberPath;

constexpr std::array<std::string_view, 7> kTypes = {"object", "array",   "string", "integer",
                                                    "number", "boolean", "null"};

bool IsTypeName(const Json& value) {
  return value.is_string() &&
         std::find(kTypes.begin(), kTypes.end(), value.get<std::string>()) != kTypes.end();
}

bool IsType(const Json& value) {
  if (!value.is_array()) return IsTypeName(value);
  return !value.empty() && std::all_of(value.begin(), value.end(), IsTypeName);
}

bool IsNames(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& name) { return name.is_string(); });
}

bool IsAny(const Json&) {
  return true;
}
bool IsText(const Json& value) {
  return value.is_string();
}
bool IsValues(const Json& value) {
  return value.is_array() && !value.empty();
}
bool IsNumber(const Json& value) {
  return value.is_number();
}
bool IsCount(const Json& value) {
  return value.is_number_unsigned();
}
bool IsObject(const Json& value) {
  return value.is_object();
}
bool IsObjectOrBool(const Json& value) {
  return value.is_object() || value.is_boolean();
}

// A header Mcp-Param-NAME repeats the argument.
bool IsHeaderName(const Json& value) {
  if (!value.is_string()) return false;
  const std::string& name = value.get_ref<const std::string&>();
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

struct Keyword {
  std::string_view name;
  bool (*fits)(const Json& value);
};
constexpr Keyword kKeywords[] = {
    {"type", IsType},
    {"enum", IsValues},
    {"const", IsAny},
    {"properties", IsObject},
    {"required", IsNames},
    {"additionalProperties", IsObjectOrBool},
    {"items", IsObject},
    {"minItems", IsCount},
    {"maxItems", IsCount},
    {"minimum", IsNumber},
    {"maximum", IsNumber},
    {"minLength", IsCount},
    {"maxLength", IsCount},
    {"default", IsAny},
    {"title", IsText},
    {"description", IsText},
    {"x-mcp-header", IsHeaderName},
};

Status CheckAt(const Json& schema, const std::string& path) {
  if (!schema.is_object()) return Fail(ErrorCode::kInternal, path + ": a schema is an object");
  for (const JsonMember& member : schema.items()) {
    const std::string& name = member.key;
    const auto* keyword = std::find_if(std::begin(kKeywords), std::end(kKeywords),
                                       [&](const Keyword& k) { return k.name == name; });
    if (keyword == std::end(kKeywords)) {
      return Fail(ErrorCode::kInternal, MemberPath(path, name) + ": no keyword of ours");
    }
    if (!keyword->fits(member.value)) {
      return Fail(ErrorCode::kInternal, MemberPath(path, name) + ": has the wrong form");
    }
  }
  if (const Json* required = FindMember(schema, "required"); required != nullptr) {
    const std::vector<std::string> names = PropertyNames(schema);
    for (const Json& name : *required) {
      if (std::find(names.begin(), names.end(), name.get<std::string>()) == names.end()) {
        return Fail(ErrorCode::kInternal,
                    MemberPath(path, "required") + ": " + name.dump() + " is no property");
      }
    }
  }
  if (const Json* fallback = FindMember(schema, "default"); fallback != nullptr) {
    JV_TRY(Validate(schema, *fallback));
  }
  if (const Json* properties = FindMember(schema, "properties"); properties != nullptr) {
    for (const auto& [name, property] : properties->items()) {
      JV_TRY(CheckAt(property, MemberPath(path, name)));
    }
  }
  if (const Json* items = FindMember(schema, "items"); items != nullptr) {
    JV_TRY(CheckAt(*items, path + "[]"));
  }
  const Json* additional = FindMember(schema, "additionalProperties");
  if (additional != nullptr && additional->is_object()) JV_TRY(CheckAt(*additional, path + ".*"));
  return {};
}

}  // namespace

Status CheckSchema(const Json& schema) {
  return CheckAt(schema, "");
}

}  // namespace jarvis::mcp
