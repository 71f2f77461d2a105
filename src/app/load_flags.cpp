#include "app/load_flags.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "app/exit_code.h"
#include "app/tool_run.h"

namespace jarvis::app {
namespace {

struct LoadFlag {
  std::string_view flag;
  std::string_view argument;  // of load_trace
  std::string_view value;     // in the help
  std::string_view help;
};

constexpr LoadFlag kLoadFlags[] = {
    {"--capture", "capture", "PATH", "Traces recorded during graph capture: a file or a folder."},
    {"--steps", "steps", "5-7", "Read only these steps of the recording."},
    {"--from", "from_ms", "MS", "Read from this time on, in milliseconds since the first event."},
    {"--to", "to_ms", "MS", "Read up to this time."},
    {"--rank", "rank", "N", "Read only this rank of a file with several."}};

// Whether the tool opens a trace and leaves this to load_trace.
bool IsLeftToLoad(const Json& schema, const LoadFlag& one) {
  const Json properties = schema.value("properties", Json::object());
  return properties.contains("trace") && !properties.contains(std::string(one.argument));
}

const LoadFlag* FlagOf(const Json& schema, std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  const auto found = std::find_if(std::begin(kLoadFlags), std::end(kLoadFlags),
                                  [&](const LoadFlag& one) { return one.flag == name; });
  return found != std::end(kLoadFlags) && IsLeftToLoad(schema, *found) ? &*found : nullptr;
}

}  // namespace

Json TakeLoadFlags(const Json& schema, std::vector<std::string_view>* words) {
  Json taken = Json::object();
  for (auto word = words->begin(); word != words->end() && *word != "--";) {
    const LoadFlag* flag = FlagOf(schema, *word);
    const std::size_t equals = word->find('=');
    const bool joined = equals != std::string_view::npos;
    // A flag without its value stays, so that it is refused as others are.
    if (flag == nullptr || (!joined && word + 1 == words->end())) {
      ++word;
      continue;
    }
    taken[std::string(flag->argument)] = std::string(joined ? word->substr(equals + 1) : word[1]);
    word = words->erase(word, word + (joined ? 1 : 2));
  }
  return taken;
}

std::string LoadFlagsHelp(const Json& schema) {
  std::string text;
  for (const LoadFlag& one : kLoadFlags) {
    if (IsLeftToLoad(schema, one))
      text += fmt::format("  {} {}\n      {}\n", one.flag, one.value, one.help);
  }
  return text;
}

int LoadWithFlags(const mcp::ToolSet& tools, const Json& flags, Json* trace) {
  Json arguments = flags;
  arguments["trace"] = *trace;
  mcp::ToolReply loaded;
  const int code = RunTool(*tools.Find("load_trace"), arguments, &loaded);
  if (code == kExitOk) *trace = loaded.structured.at("trace");
  return code;
}

}  // namespace jarvis::app
