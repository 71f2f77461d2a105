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

std::string ReadStdin() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

}  // namespace

int Call(Arguments arguments) {
  if (arguments.empty() || arguments.size() > 2) {
    return UsageError("call takes a tool and its arguments as JSON: jarvis call TOOL '{...}'");
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
  return RunTool(*tool, *json, Output::kJson);
}

}  // namespace jarvis::app
