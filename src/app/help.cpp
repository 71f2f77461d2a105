#include "app/help.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/load_flags.h"
#include "app/tool_flags.h"
#include "base/text.h"
#include "mcp/closest_match.h"
#include "mcp/schema.h"

namespace jarvis::app {
namespace {

constexpr std::size_t kLineChars = 88;

// Breaks at blanks; lines after the first start with `indent` blanks.
std::string Wrap(std::string_view text, std::size_t indent) {
  std::string wrapped;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column > indent && column + word.size() + 1 > kLineChars) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

std::string Dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string FlagHelp(const Json& schema, const std::string& name, const Json& property) {
  const Json required = schema.value("required", Json::array());
  const bool is_required =
      std::find(required.begin(), required.end(), Json(name)) != required.end();
  std::string text = property.value("description", "");
  if (!text.empty() && text.back() != '.') text += '.';
  text += " (" + mcp::Expected(property);
  const Json items = property.value("items", Json::object());
  if (HasSchemaType(property, "array") && HasSchemaType(items, "object"))
    text += "; objects as JSON in quotes";
  if (is_required) text += "; required";
  if (const auto fallback = property.find("default"); fallback != property.end()) {
    text +=
        "; default " + (fallback->is_string() ? fallback->get<std::string>() : fallback->dump());
  }
  text += ")";
  if (text.front() == ' ') text.erase(0, 1);
  const std::string flag = HasSchemaType(property, "boolean") ? "--[no-]" : "--";
  return "  " + flag + Dashed(name) + "\n      " + Wrap(text, 6) + "\n";
}

}  // namespace

std::string ProgramHelp(const mcp::ToolSet& tools) {
  std::string text =
      "jarvis: find out why a PyTorch workload is slow on its GPU.\n\n"
      "Usage: jarvis COMMAND [arguments]\n"
      "       jarvis TOOL [TRACE] [--name value ...]\n\nCommands:\n";
  for (const Command& command : kCommands) {
    const std::string call = std::string(command.name) + " " + std::string(command.usage);
    text += fmt::format("  {:<44} {}\n", call, command.summary);
  }
  text += "\nTools (jarvis TOOL --help says more):\n";
  for (const mcp::Tool& tool : tools.tools()) {
    text += fmt::format("  {:<24} {}\n", tool.name, tool.definition.value("title", ""));
  }
  return text + "\nOther:\n  --help                   Print this text.\n" +
         "  --no-cache COMMAND       Run a command without the cache of loaded traces.\n" +
         "  --version                Print the version.\n";
}

std::string ToolHelp(const mcp::Tool& tool, std::string_view spelled) {
  const Json& schema = tool.input_schema();
  const std::string positional = UpperAscii(PositionalName(schema));
  const std::string name_shown(spelled.empty() ? tool.name : spelled);
  std::string text = name_shown + ": " + tool.definition.value("title", "") + "\n\n" +
                     Wrap(tool.definition.value("description", ""), 0) + "\n\nUsage: jarvis " +
                     name_shown + (positional.empty() ? "" : " [" + positional + "]") +
                     " [--name value ...]\n\nArguments:\n";
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, property] : properties.items()) {
    text += name == "image" ? "  --image FILE\n      Write a picture of the answer, as PNG.\n"
                            : FlagHelp(schema, name, property);
  }
  return text + LoadFlagsHelp(schema) +
         "  --json\n      Print the structured answer as one line of JSON.\n";
}

std::string Unknown(std::string_view kind, std::string_view name,
                    const std::vector<std::string>& known, std::string_view spelled) {
  std::string text = fmt::format("unknown {} {}", kind, name.substr(0, 64));
  if (const auto closest = mcp::ClosestMatch(spelled.empty() ? name : spelled, known)) {
    return fmt::format("{}; did you mean {}{}?", text, kind == "flag" ? "--" : "",
                       kind == "flag" ? Dashed(*closest) : *closest);
  }
  return text;
}

}  // namespace jarvis::app
