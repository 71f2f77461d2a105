// jarvis TOOL ...: a tool as a command of its own.
#include <string>
#include <utility>
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
namespace {

// The value of --capture, which is taken out of the words; empty: not given.
std::string TakeCapture(std::vector<std::string_view>* words) {
  constexpr std::string_view kFlag = "--capture";
  for (auto word = words->begin(); word != words->end(); ++word) {
    if (*word == "--") break;
    if (word->starts_with(kFlag) && word->substr(kFlag.size()).starts_with("=")) {
      std::string value(word->substr(kFlag.size() + 1));
      words->erase(word);
      return value;
    }
    if (*word == kFlag && word + 1 != words->end()) {
      std::string value(word[1]);
      words->erase(word, word + 2);
      return value;
    }
  }
  return "";
}

}  // namespace

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
  // A capture that load_trace is told counts for whoever asks of the trace after it.
  const std::string capture =
      TakesCaptureOfLoad(tool->input_schema()) ? TakeCapture(&words) : std::string();
  const auto flags = ParseToolFlags(tool->input_schema(), words);
  if (!flags) return UsageError(flags.error().message, "jarvis " + tool->name + " --help");
  if (flags->help) return Print(ToolHelp(*tool)) ? kExitOk : kExitFailure;
  if (!capture.empty()) {
    if (!flags->arguments.contains("trace")) return UsageError("--capture needs a trace");
    mcp::ToolReply loaded;
    const Json load = {{"trace", flags->arguments.at("trace")}, {"capture", capture}};
    if (const int code = RunTool(*toolbox.tools.Find("load_trace"), load, &loaded);
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
