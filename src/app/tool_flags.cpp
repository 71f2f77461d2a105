#include "app/tool_flags.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/help.h"
#include "mcp/schema.h"

namespace jarvis::app {
namespace {

// With former names, which are flags too.
Json PropertiesOf(const mcp::Tool& tool) {
  Json properties = tool.input_schema().value("properties", Json::object());
  for (const mcp::ArgumentAlias& alias : tool.options.aliases) {
    const Json* const property = FindMember(properties, alias.name);
    if (property == nullptr) continue;
    Json same = *property;
    properties[std::string(alias.old_name)] = std::move(same);
  }
  return properties;
}

class ToolFlagParser {
 public:
  explicit ToolFlagParser(const mcp::Tool& tool)
      : properties_(PropertiesOf(tool)),
        names_(mcp::PropertyNames(tool.input_schema())),
        positional_(PositionalName(tool.input_schema())) {}

  Result<ToolFlags> Parse(Arguments arguments) {
    bool only_values = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string_view word = arguments[i];
      if (!only_values && word == "--") {
        only_values = true;
      } else if (only_values || word.size() < 2 || word[0] != '-') {
        JV_TRY(Value(word));
      } else if (word == "-h") {
        flags_.help = true;
      } else if (word == "-o" && Has("output_dir") && i + 1 < arguments.size()) {
        JV_TRY(Set("output_dir", arguments[++i], true));
      } else if (!word.starts_with("--")) {
        return Fail(ErrorCode::kBadValue, fmt::format("flags start with two dashes: {}", word));
      } else {
        const bool has_next = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
        JV_ASSIGN(const bool took_next,
                  Flag(word, has_next ? std::optional(arguments[i + 1]) : std::nullopt));
        if (!took_next) continue;
        // "--ranks 0 1 2": the words behind are of the list as long as they fit it.
        const std::string list = NameOf(word);
        for (++i; i + 1 < arguments.size() && Continues(list, arguments[i + 1]);)
          JV_TRY(Set(list, arguments[++i], true));
      }
    }
    return std::move(flags_);
  }

 private:
  // Whether a word behind a list's first value is one of it, too: a number where numbers are meant,
  // one of the known words where there are such; else any word, unless it could be the value
  // without a name.
  bool Continues(const std::string& name, std::string_view word) const {
    if (!IsArray(name) || word.starts_with('-')) return false;
    const Json items = properties_.at(name).value("items", Json::object());
    if (HasSchemaType(items, "integer") || HasSchemaType(items, "number")) {
      return word.find_first_not_of("0123456789.,") == std::string_view::npos;
    }
    if (items.contains("enum")) {
      const Json& known = items.at("enum");
      return std::find(known.begin(), known.end(), Json(word)) != known.end();
    }
    return positional_.empty() || name == positional_ || flags_.arguments.contains(positional_);
  }

  // The argument that a flag is about.
  std::string NameOf(std::string_view word) const {
    std::string name(word.substr(
        2, word.find('=') == std::string_view::npos ? std::string_view::npos : word.find('=') - 2));
    std::replace(name.begin(), name.end(), '-', '_');
    if (name == "trace" && !Has(name) && Has("trace_id")) return "trace_id";
    // Spellings of the reference's programs.
    static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
        {"profile_json_path", "trace"},
        {"output_xlsx_path", "output_xlsx"},
        {"output_csvs_dir", "output_dir"},
        {"output", "output_dir"},
        {"extension_file", "extension"},
        {"gpu_arch_json_path", "gpu_arch"},
        {"input_csv", "csv"},
        {"from", "from_ms"},
        {"to", "to_ms"}};
    for (const auto& [spelling, own] : kOthers) {
      if (name == spelling && !Has(name) && Has(std::string(own))) return std::string(own);
    }
    return name;
  }

  // True: the next word was this flag's value.
  Result<bool> Flag(std::string_view word, std::optional<std::string_view> next) {
    const std::size_t equals = word.find('=');
    const bool has_value = equals != std::string_view::npos;
    const std::string name = NameOf(word);
    if (!Has(name) && (name == "help" || name == "json") && !has_value) {
      (name == "help" ? flags_.help : flags_.json) = true;
      return false;
    }
    const bool negated = !Has(name) && name.starts_with("no_") && IsBoolean(name.substr(3));
    if (negated && !has_value) {
      flags_.arguments[name.substr(3)] = false;
      return false;
    }
    if (!Has(name)) return UnknownFlag(word.substr(0, equals), name);
    if (has_value) return Set(name, word.substr(equals + 1), false);
    if (IsBoolean(name) && name != "image") {
      flags_.arguments[name] = true;
      return false;
    }
    if (!next) return Fail(ErrorCode::kBadValue, fmt::format("{} needs a value", word));
    return Set(name, *next, true);
  }

  // '{"row": "op3", "factor": 0.5}', or a list of such, where an argument takes more than words.
  Status SetObjects(const std::string& name, std::string_view text) {
    Result<Json> given = ParseJson(text);
    if (!given) {
      return Fail(ErrorCode::kBadValue, fmt::format("{}: {}", name, given.error().message),
                  "quote it: '{\"row\": \"op3\", \"factor\": 0.5}'");
    }
    Json& argument = flags_.arguments[name];
    if (given->is_object()) {
      argument.push_back(std::move(*given));
      return {};
    }
    if (argument.is_null()) argument = Json::array();
    for (const Json& one : *given)
      argument.push_back(one);
    return {};
  }

  Result<bool> Set(const std::string& name, std::string_view value, bool took_next) {
    // A terminal shows no pictures: the flag says where to.
    if (name == "image") {
      flags_.image = value;
      flags_.arguments[name] = true;
      return took_next;
    }
    if (TakesObjects(name) && (value.starts_with('{') || value.starts_with('['))) {
      JV_TRY(SetObjects(name, value));
      return took_next;
    }
    Json& argument = flags_.arguments[name];
    if (IsArray(name)) {
      for (std::size_t begin = 0; begin <= value.size();) {
        const std::size_t end = std::min(value.find(',', begin), value.size());
        if (end > begin) argument.push_back(value.substr(begin, end - begin));
        begin = end + 1;
      }
      if (argument.is_null()) argument = Json::array();
    } else if (!argument.is_null()) {
      return Fail(ErrorCode::kBadValue, fmt::format("{} is given twice", name));
    } else {
      argument = value;
    }
    return took_next;
  }

  Status Value(std::string_view word) {
    const bool taken = flags_.arguments.contains(positional_) && !IsArray(positional_);
    // jarvis query TRACE "SELECT ..."
    constexpr const char* kSecond = "sql";
    if (taken && Has(kSecond) && !flags_.arguments.contains(kSecond)) {
      flags_.arguments[kSecond] = word;
      return {};
    }
    if (positional_.empty() || taken) {
      return Fail(ErrorCode::kBadValue, fmt::format("unexpected argument: {}", word));
    }
    if (IsArray(positional_)) {
      flags_.arguments[positional_].push_back(word);  // a path may have commas
    } else {
      flags_.arguments[positional_] = word;
    }
    return {};
  }

  tl::unexpected<Error> UnknownFlag(std::string_view flag, std::string_view name) const {
    std::vector<std::string> known = names_;
    known.insert(known.end(), {"json", "help"});
    return Fail(ErrorCode::kUnknownArgument, Unknown("flag", flag, known, name));
  }

  bool Has(const std::string& name) const { return properties_.contains(name); }
  bool IsBoolean(const std::string& name) const {
    return Has(name) && HasSchemaType(properties_.at(name), "boolean");
  }
  bool IsArray(const std::string& name) const {
    return Has(name) && HasSchemaType(properties_.at(name), "array");
  }

  bool TakesObjects(const std::string& name) const {
    return IsArray(name) &&
           HasSchemaType(properties_.at(name).value("items", Json::object()), "object");
  }

  const Json properties_;
  const std::vector<std::string> names_;
  const std::string positional_;
  ToolFlags flags_;
};

}  // namespace

Result<ToolFlags> ParseToolFlags(const mcp::Tool& tool, Arguments arguments) {
  return ToolFlagParser(tool).Parse(arguments);
}

std::string PositionalName(const Json& schema) {
  const Json properties = schema.value("properties", Json::object());
  for (const char* name : {"trace", "trace_id"}) {
    if (properties.contains(name)) return name;
  }
  const Json required = schema.value("required", Json::array());
  return required.empty() ? std::string() : required.front().get<std::string>();
}

bool HasSchemaType(const Json& property, std::string_view type) {
  const Json types = property.value("type", Json());
  if (types.is_string()) return types.get<std::string>() == type;
  return std::find(types.begin(), types.end(), Json(type)) != types.end();
}

}  // namespace jarvis::app
