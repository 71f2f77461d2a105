// jarvis TOOL ...: a tool as a command of its own.
#include <string>
#include <vector>

#include "app/collectives_text.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/help.h"
#include "app/tool_flags.h"
#include "app/tool_run.h"
#include "app/toolbox.h"
#include "rpc/signal_watcher.h"

namespace jarvis::app {

int RunToolCommand(std::string_view name, Arguments arguments) {
  static_cast<void>(rpc::SignalWatcher::Block());
  const Toolbox toolbox;
  const mcp::Tool* tool = FindTool(toolbox.tools, name);
  if (tool == nullptr) {
    std::vector<std::string> known = toolbox.tools.Names();
    for (const Command& command : kCommands)
      known.emplace_back(command.name);
    return UsageError(Unknown("command", name, known));
  }
  const auto flags = ParseToolFlags(tool->input_schema(), arguments);
  if (!flags) return UsageError(flags.error().message, "jarvis " + tool->name + " --help");
  if (flags->help) return Print(ToolHelp(*tool)) ? kExitOk : kExitFailure;
  if (tool->name != "collectives" || flags->json)
    return RunTool(*tool, flags->arguments, flags->json ? Output::kJson : Output::kText);
  mcp::ToolReply reply;
  if (const int code = RunTool(*tool, flags->arguments, &reply); code != kExitOk) return code;
  const std::string text = CollectivesText(reply.structured);
  return Print(text.empty() ? reply.text : text) ? kExitOk : kExitFailure;
}

}  // namespace jarvis::app
