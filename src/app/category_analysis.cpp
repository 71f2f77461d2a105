// jarvis category-analysis CATEGORY --output-dir DIR: prints the analysis of a category of a
// finished analysis as markdown, for agents that have a shell and no MCP.
#include <string>
#include <vector>

#include "app/cache_options.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/flags.h"
#include "app/text_run.h"
#include "mcp/error_reply.h"
#include "rpc/signal_watcher.h"
#include "tools/trace/category_text.h"

namespace jarvis::app {
namespace {

constexpr std::string_view kCategoryUsage =
    "usage: jarvis category-analysis CATEGORY --output-dir DIR\n"
    "\n"
    "Prints operations, bottlenecks and key metrics of a category (gemm, elementwise, sdpa,\n"
    "reduce, norm, convolution, moe, triton, idle, communication, fusion, other...) as markdown.\n"
    "DIR is the output directory of jarvis analyze or category_filter. With --trace it runs the\n"
    "tool category_analysis instead.\n";

// The folder that the flags name; empty: none.
std::string FolderOf(Arguments arguments) {
  std::string folder;
  FlagRules rules;
  rules.other = [](std::string_view, bool) { return Status(); };
  const std::vector<Flag> flags = {{{"--output-dir", "--output_dir"}, &folder}};
  return ParseFlags(flags, arguments, rules) ? folder : std::string();
}

}  // namespace

int CategoryAnalysis(Arguments arguments) {
  if (arguments.size() == 1 && (arguments.front() == "--help" || arguments.front() == "-h"))
    return Print(kCategoryUsage) ? kExitOk : kExitFailure;
  // Everything else is the tool of this name.
  const bool script_like = !arguments.empty() && !arguments.front().starts_with("-");
  if (!script_like) return RunToolCommand("category_analysis", arguments);
  const std::string folder = FolderOf(arguments);
  if (folder.empty() || arguments.size() > 3) {
    PrintError(kCategoryUsage);
    return kExitUsage;
  }
  static_cast<void>(rpc::SignalWatcher::Block());
  session::Workspace workspace{{.cache = CacheOptions()}};
  const auto text = RunForText([&](Job& job) {
    return tools::CategoryText(workspace, folder, std::string(arguments.front()), job);
  });
  if (text) return Print(*text) ? kExitOk : kExitFailure;
  PrintError(mcp::ErrorReply(text.error()).text);
  return kExitFailure;
}

}  // namespace jarvis::app
