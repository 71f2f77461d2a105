// jarvis TOOL ...: a tool as a command of its own.
#include <string>
#include <utility>
#include <vector>

#include "app/collectives_text.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/help.h"
#include "app/load_flags.h"
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
  std::vector<std::string_view> words(arguments.begin(), arguments.end());
  const Json load = TakeLoadFlags(tool->input_schema(), &words);
  auto flags = ParseToolFlags(*tool, words);
  if (!flags) return UsageError(flags.error().message, "jarvis " + tool->name + " --help");
  if (flags->help) return Print(ToolHelp(*tool)) ? kExitOk : kExitFailure;
  if (!load.empty()) {
    if (!flags->arguments.contains("trace"))
      return UsageError("no trace to load", "jarvis " + tool->name + " --help");
    if (const int code = LoadWithFlags(toolbox.tools, load, &flags->arguments["trace"]);
        code != kExitOk) {
      return code;
    }
  }
  mcp::ToolReply reply;
  if (const int code = RunTool(*tool, flags->arguments, &reply); code != kExitOk) return code;
  if (tool->name == "collectives" && !flags->json) {
    if (std::string text = CollectivesText(reply.structured); !text.empty())
      reply.text = std::move(text);
  }
  const int code = PrintReply(reply, flags->json ? Output::kJson : Output::kText);
  if (code != kExitOk || flags->image.empty()) return code;
  return SaveImage(reply, flags->image);
}

}  // namespace jarvis::app
