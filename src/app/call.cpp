// jarvis call TOOL [JSON | -]: for scripts and for trying out what an agent would send.
#include <iostream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/help.h"
#include "app/tool_run.h"
#include "app/toolbox.h"
#include "json/json.h"
#include "rpc/signal_watcher.h"

namespace jarvis::app {
namespace {

constexpr std::string_view kCallHelp =
    "jarvis call: call a tool as an MCP client would; its JSON answer goes to stdout.\n\n"
    "Usage: jarvis call TOOL [JSON | -]\n\n"
    "  TOOL    A tool's name; jarvis --help lists them, jarvis TOOL --help its arguments.\n"
    "  JSON    The arguments as one JSON object; - reads it from stdin; without: none.\n\n"
    "Each call is a process of its own: name a trace by its path, as ids of traces end with it.\n\n"
    "Example: jarvis call gpu_timeline '{\"trace\": \"trace.json.gz\"}'\n";

// What to ask next, with the trace as it was given: its id means nothing to another process.
void NamePaths(const Json& arguments, Json* answer) {
  const Json* const id = FindMember(*answer, "trace");
  const Json* const given = FindMember(arguments, "trace");
  if (id == nullptr || given == nullptr || !answer->contains("next")) return;
  const Json of_process = *id;
  for (Json& call : (*answer)["next"]) {
    Json& asked = call["arguments"];
    if (asked.is_object() && asked.contains("trace") && asked["trace"] == of_process)
      asked["trace"] = *given;
  }
}

std::string ReadStdin() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

}  // namespace

int Call(Arguments arguments) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h"))
    return Print(std::string(kCallHelp)) ? kExitOk : kExitFailure;
  if (arguments.empty() || arguments.size() > 2) {
    return UsageError("call takes a tool and its arguments as JSON: jarvis call TOOL '{...}'",
                      "jarvis call --help");
  }
  static_cast<void>(rpc::SignalWatcher::Block());
  const Toolbox toolbox;
  const mcp::Tool* tool = FindTool(toolbox.tools, arguments[0]);
  if (tool == nullptr) {
    PrintError(Unknown("tool", arguments[0], toolbox.tools.Names()));
    return kExitFailure;
  }
  std::string text = arguments.size() < 2 ? "{}" : std::string(arguments[1]);
  if (text == "-") text = ReadStdin();
  const auto json = ParseJson(text);
  if (!json || !json->is_object()) {
    PrintError(fmt::format("the arguments of {}: {}", tool->name,
                           json ? "expected a JSON object" : json.error().message));
    return kExitFailure;
  }
  mcp::ToolReply reply;
  if (const int code = RunTool(*tool, *json, &reply); code != kExitOk) return code;
  NamePaths(*json, &reply.structured);
  NoteImage(reply);
  return PrintReply(reply, Output::kJson);
}

}  // namespace jarvis::app
