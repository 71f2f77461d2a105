// jarvis query TRACE "SELECT ...": the tool of this name, and all rows as CSV.
#include <algorithm>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/text_run.h"
#include "app/tool_flags.h"
#include "app/tool_run.h"
#include "app/toolbox.h"
#include "mcp/call_tool.h"
#include "mcp/error_reply.h"
#include "rpc/signal_watcher.h"
#include "tools/trace/query_text.h"

namespace jarvis::app {

int Query(Arguments arguments) {
  std::vector<std::string_view> rest(arguments.begin(), arguments.end());
  if (std::erase(rest, "--csv") == 0) return RunToolCommand("query", arguments);
  static_cast<void>(rpc::SignalWatcher::Block());
  Toolbox toolbox;
  const mcp::Tool& tool = *FindTool(toolbox.tools, "query");
  const auto flags = ParseToolFlags(tool, rest);
  if (!flags) return UsageError(flags.error().message, "jarvis query --help");
  const auto normal = mcp::ArgumentsOf(tool, flags->arguments);
  if (!normal) return UsageError(normal.error().message, "jarvis query --help");
  if (!normal->value.contains("sql"))
    return UsageError("--csv needs a question", "jarvis query --help");
  const auto text =
      RunForText([&](Job& job) { return tools::QueryCsv(toolbox.workspace, normal->value, job); });
  if (text) return Print(*text) ? kExitOk : kExitFailure;
  PrintError(mcp::ErrorReply(text.error()).text);
  return kExitFailure;
}

}  // namespace jarvis::app
