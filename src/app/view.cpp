// jarvis view: the page of a trace, of two, or of the ranks of a job, made and opened.
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

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
#include "tools/shared/rank_choice.h"

namespace jarvis::app {
namespace {

constexpr std::string_view kViewUsage =
    "usage: jarvis view TRACE [--output-dir DIR] [--platform NAME]\n"
    "       jarvis view CANDIDATE BASELINE [--output-dir DIR] [--platform NAME]\n"
    "       jarvis view DIRECTORY [--output-dir DIR]\n"
    "Writes the report and its page, opens the page where there is a desktop, and prints its\n"
    "path. One trace: the page of its analysis. Two traces: the page of their comparison. A\n"
    "directory with one trace per rank, or three ranks and more: the page of the job.\n"
    "\n";

struct Wanted {
  std::vector<std::string> traces;
  std::string output_dir;  // empty: where the files go by default
  std::string platform;    // empty: the trace's device
  bool overwrite = false;
  bool help = false;
};

// The ranks of a job: a directory of them, or more than a candidate and its baseline.
bool IsJob(const std::vector<std::string>& traces) {
  std::error_code ignored;
  return traces.size() > 2 ||
         (traces.size() == 1 && std::filesystem::is_directory(traces.front(), ignored));
}

std::vector<Flag> ViewFlags(Wanted* wanted) {
  return {
      {{"--trace"}, Repeated{&wanted->traces}},
      {{"--output-dir", "--output_dir", "--output", "-o"},
       &wanted->output_dir,
       "  --output-dir DIR  where the report goes; default: a folder in jarvis_out/\n"},
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
  rules.other = [&](std::string_view word, bool) -> Status {
    if (word.starts_with("-"))
      return Fail(ErrorCode::kBadValue, fmt::format("view does not take \"{}\"", word));
    wanted.traces.emplace_back(word);
    return {};
  };
  JV_TRY(ParseFlags(ViewFlags(&wanted), arguments, rules));
  if (wanted.help) return wanted;
  if (wanted.traces.empty()) return Fail(ErrorCode::kBadValue, "view needs a trace");
  if (IsJob(wanted.traces) && !wanted.platform.empty())
    return Fail(ErrorCode::kBadValue, "--platform goes with one or two traces");
  return wanted;
}

// The tool that makes the page, and what it is asked.
std::pair<const char*, Json> QuestionOf(const Wanted& wanted, const io::FilePolicy& files) {
  const std::vector<std::string>& traces = wanted.traces;
  std::pair<const char*, Json> question;
  if (IsJob(traces)) {
    question = {"collectives", {{"traces", traces}}};
  } else if (traces.size() == 2) {
    question = {"compare",
                {{"candidate", traces[0]},
                 {"baseline", traces[1]},
                 {"output_dir", files.DefaultOutput("comparison")}}};
  } else {
    question = {"render_report", {{"trace", traces.front()}, {"reports", Json::array({"fair"})}}};
  }
  if (!wanted.output_dir.empty()) question.second["output_dir"] = wanted.output_dir;
  if (!wanted.platform.empty()) question.second["platform"] = wanted.platform;
  if (wanted.overwrite) question.second["overwrite"] = true;
  return question;
}

// The page among the files that were written; empty: it is none of them.
std::string PageOf(const Json& answer) {
  for (const Json& file : answer.value("files", Json::array())) {
    std::string path = file.value("path", "");
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (name == page::kPageFile || name == page::kPairPageFile || name == page::kRanksPageFile)
      return path;
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
  Toolbox toolbox;
  auto [tool, question] = QuestionOf(*wanted, toolbox.workspace.files());
  if (question.contains("trace")) {
    const int chosen = RunWatched([&](Job& job) -> Status {
      JV_ASSIGN(tools::OneRank one, tools::OneRankOf(toolbox.workspace, question, job));
      question = std::move(one.arguments);
      return {};
    });
    if (chosen != kExitOk) return chosen;
  }
  mcp::ToolReply reply;
  const int code = RunTool(*toolbox.tools.Find(tool), question, &reply);
  if (code != kExitOk) return code;
  const std::string page = PageOf(reply.structured);
  if (page.empty()) {
    PrintError("there is no page: " + reply.structured.value("summary", ""));
    return kExitFailure;
  }
  launch::OpenFile(page);
  return Print(page) ? kExitOk : kExitFailure;
}

}  // namespace jarvis::app
