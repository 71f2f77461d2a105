#include "mcp/tool.h"

#include <algorithm>
#include <utility>

#include "mcp/schema.h"
#include "mcp/schema_check.h"

namespace jarvis::mcp {
namespace {

// What every host takes. Hosts put a prefix before the name, so ours stay below half of it.
constexpr std::size_t kToolNameBytesMax = 64;
constexpr const char* kHints[] = {"readOnlyHint", "destructiveHint", "idempotentHint",
                                  "openWorldHint"};

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kToolNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

bool HasText(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() &&
         !found->get_ref<const std::string&>().empty();
}

Status CheckRoot(const Json& definition, const char* key, bool free) {
  const Json& schema = definition.at(key);
  if (!schema.is_object() || schema.value("type", Json()) != "object") {
    return Fail(ErrorCode::kInternal, std::string(key) + " must have \"type\": \"object\"");
  }
  if (free) return {};
  return CheckSchema(schema);
}

Status CheckDefinition(const Json& definition, bool free_schema) {
  if (!definition.is_object() || !HasText(definition, "name") || !HasText(definition, "title") ||
      !HasText(definition, "description")) {
    return Fail(ErrorCode::kInternal, "name, title and description must be given");
  }
  if (!definition.contains("inputSchema")) {
    return Fail(ErrorCode::kInternal, "inputSchema must be given");
  }
  JV_TRY(CheckRoot(definition, "inputSchema", free_schema));
  if (definition.contains("outputSchema")) {
    JV_TRY(CheckRoot(definition, "outputSchema", /*free=*/false));
  }
  const Json annotations = definition.value("annotations", Json::object());
  for (const char* hint : kHints) {
    if (!annotations.is_object() || !annotations.value(hint, Json()).is_boolean()) {
      return Fail(ErrorCode::kInternal, std::string("annotations.") + hint + " must be stated");
    }
  }
  return {};
}

}  // namespace

Status ToolSet::Add(std::string_view schema_text, ToolCost cost, ToolHandler handler) {
  return Add(schema_text, ToolOptions::For(cost),
             [handler = std::move(handler)](const Json& arguments, CallContext& context) {
               return handler(arguments, context.job);
             });
}

Status ToolSet::Add(std::string_view schema_text, const ToolOptions& options,
                    TalkingHandler handler) {
  JV_ASSIGN(Json definition, ParseJson(schema_text));
  return AddDefinition(std::move(definition), options, std::move(handler));
}

Status ToolSet::AddDefinition(Json definition, const ToolOptions& options, TalkingHandler handler) {
  if (auto checked = CheckDefinition(definition, options.free_schema); !checked) {
    const std::string name =
        definition.is_object() ? Excerpt(definition.value("name", Json())) : std::string("?");
    return Fail(ErrorCode::kInternal, "tool " + name + ": " + checked.error().message);
  }
  std::string name = definition.at("name").get<std::string>();
  if (!IsName(name)) return Fail(ErrorCode::kInternal, "tool " + name + ": bad name");
  if (Find(name) != nullptr) return Fail(ErrorCode::kInternal, "tool " + name + ": given twice");
  tools_.push_back(Tool{std::move(name), std::move(definition), options, std::move(handler)});
  return {};
}

const Tool* ToolSet::Find(std::string_view name) const {
  const auto found = std::find_if(tools_.begin(), tools_.end(),
                                  [&](const Tool& tool) { return tool.name == name; });
  return found == tools_.end() ? nullptr : &*found;
}

std::vector<std::string> ToolSet::Names() const {
  std::vector<std::string> names;
  for (const Tool& tool : tools_)
    names.push_back(tool.name);
  return names;
}

}  // namespace jarvis::mcp
