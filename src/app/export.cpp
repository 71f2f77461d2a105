// jarvis export TRACE --sqlite FILE: the tables of `query` as a database, for DuckDB, pandas and
// notebooks.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/cache_options.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/flags.h"
#include "app/text_run.h"
#include "io/atomic_file.h"
#include "mcp/error_reply.h"
#include "rpc/signal_watcher.h"
#include "session/workspace.h"
#include "tools/trace/query_text.h"

namespace jarvis::app {
namespace {

constexpr std::string_view kExportUsage =
    "usage: jarvis export TRACE --sqlite FILE [--overwrite]\n"
    "\n"
    "Writes the tables of jarvis query (jarvis query TRACE lists them) as a SQLite database with\n"
    "indices. Open it with sqlite3, DuckDB (ATTACH), pandas (read_sql) and others.\n"
    "\n"
    "  --overwrite    replace a file that exists\n";

}  // namespace

int Export(Arguments arguments) {
  std::string trace;
  std::string file;
  bool overwrite = false;
  bool help = false;
  FlagRules rules;
  rules.other = [&](std::string_view word, bool) -> Status {
    if (word.starts_with("-") || !trace.empty())
      return Fail(ErrorCode::kBadValue, fmt::format("unexpected argument: {}", word));
    trace = word;
    return {};
  };
  const std::vector<Flag> flags = {
      {{"--sqlite"}, &file}, {{"--overwrite"}, &overwrite}, {{"--help", "-h"}, &help}};
  if (const Status parsed = ParseFlags(flags, arguments, rules); !parsed)
    return UsageError(parsed.error().message, "jarvis export --help");
  if (help) return Print(std::string(kExportUsage)) ? kExitOk : kExitFailure;
  if (trace.empty() || file.empty())
    return UsageError("a trace and --sqlite FILE are needed", "jarvis export --help");
  if (!overwrite && io::IsReplaced(file))
    return UsageError(file + " is there already; --overwrite replaces it", "jarvis export --help");
  static_cast<void>(rpc::SignalWatcher::Block());
  session::Workspace workspace{{.cache = CacheOptions()}};
  const auto database = RunForText([&](Job& job) {
    return tools::DatabaseOf(workspace, Json{{"trace", trace}}, job);
  });
  if (!database) {
    PrintError(mcp::ErrorReply(database.error()).text);
    return kExitFailure;
  }
  if (const Status written = io::WriteGivenFile(file, *database); !written) {
    PrintError(mcp::ErrorReply(written.error()).text);
    return kExitFailure;
  }
  return Print(fmt::format("{}: {} bytes\n", file, database->size())) ? kExitOk : kExitFailure;
}

}  // namespace jarvis::app
