// jarvis view TRACE: the report as a page, made and opened.
#include <string>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/flags.h"
#include "app/tool_run.h"
#include "app/toolbox.h"
#include "launch/open_file.h"
#include "page/page_files.h"
#include "rpc/signal_watcher.h"

namespace jarvis::app {
namespace {

constexpr std::string_view kViewUsage =
    "usage: jarvis view TRACE [--output-dir DIR] [--platform NAME]\n"
    "Writes the report of a trace with its page, report.html, opens the page where there is a\n"
    "desktop, and prints its path.\n"
    "\n";

struct Wanted {
  std::string trace;
  std::string output_dir;  // empty: where the trace's files go by default
  std::string platform;    // empty: the trace's device
  bool overwrite = false;
  bool help = false;
};

std::vector<Flag> ViewFlags(Wanted* wanted) {
  return {
      {{"--trace"}, &wanted->trace},
      {{"--output-dir", "--output_dir", "--output", "-o"},
       &wanted->output_dir,
       "  --output-dir DIR  where the report goes; default: a folder for the trace\n"},
      {{"--platform"},
       &wanted->platform,
       "  --platform NAME   the GPU that efficiency is measured against; default: the trace's "
       "device\n"},
      {{"--overwrite"},
       &wanted->overwrite,
       "  --overwrite       replace files in DIR that jarvis did not write\n"},
      {{"--help", "-h"}, &wanted->help},
  };
}

Result<Wanted> ParseView(Arguments arguments) {
  Wanted wanted;
  FlagRules rules;
  rules.joined = false;
  rules.other = [&](std::string_view word, bool) -> Status {
    if (word.starts_with("-") || !wanted.trace.empty())
      return Fail(ErrorCode::kBadValue, fmt::format("view does not take \"{}\"", word));
    wanted.trace = word;
    return {};
  };
  JV_TRY(ParseFlags(ViewFlags(&wanted), arguments, rules));
  if (!wanted.help && wanted.trace.empty()) return Fail(ErrorCode::kBadValue, "view needs a trace");
  return wanted;
}

// The page among the files that were written; empty: it is none of them.
std::string PageOf(const Json& answer) {
  for (const Json& file : answer.value("files", Json::array())) {
    if (file.value("what", "") == page::kPageFile) return file.value("path", "");
  }
  return "";
}

}  // namespace

int View(Arguments arguments) {
  const Result<Wanted> wanted = ParseView(arguments);
  if (!wanted) return UsageError(wanted.error().message);
  if (wanted->help) {
    Wanted unset;
    return Print(std::string(kViewUsage) + FlagsHelp(ViewFlags(&unset))) ? kExitOk : kExitFailure;
  }
  static_cast<void>(rpc::SignalWatcher::Block());
  const Toolbox toolbox;
  Json question = {{"trace", wanted->trace}, {"reports", Json::array({"fair"})}};
  if (!wanted->output_dir.empty()) question["output_dir"] = wanted->output_dir;
  if (!wanted->platform.empty()) question["platform"] = wanted->platform;
  if (wanted->overwrite) question["overwrite"] = true;
  mcp::ToolReply reply;
  const int code = RunTool(*toolbox.tools.Find("render_report"), question, &reply);
  if (code != kExitOk) return code;
  const std::string page = PageOf(reply.structured);
  launch::OpenFile(page);
  return Print(page) ? kExitOk : kExitFailure;
}

}  // namespace jarvis::app
