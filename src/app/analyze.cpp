// jarvis analyze: the whole of an analysis without an agent, by the same tools, step by step; ends
// with a summary and the paths of the reports.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/flags.h"
#include "app/load_flags.h"
#include "app/progress_line.h"
#include "app/tool_run.h"
#include "app/toolbox.h"
#include "base/text.h"
#include "io/file_policy.h"
#include "page/page_files.h"
#include "rpc/signal_watcher.h"
#include "tools/shared/analysis_ahead.h"
#include "tools/shared/front_text.h"
#include "tools/shared/rank_choice.h"

namespace jarvis::app {
namespace {

constexpr std::string_view kUsage =
    "usage: jarvis analyze TRACE [--output-dir DIR] [--platform NAME] [--reports LIST]\n"
    "                      [--steps 5-7] [--from MS] [--to MS] [--rank N] [--capture PATH]\n"
    "                      [--extension FILE] [--compare BASELINE] [--overwrite]\n"
    "\n"
    "Loads the trace, writes the tables (DIR/perf_report.xlsx, DIR/perf_report_csvs/*.csv), the\n"
    "category files (DIR/category_data/, DIR/metadata/), the findings (DIR/category_findings/,\n"
    "DIR/system_findings/) and the reports, checks them, and prints the fixes that save most.\n"
    "\n";

struct Request {
  std::string trace;
  std::string output_dir;  // empty: where the trace's files go by default
  std::string platform;    // empty: the trace's device
  std::string reports;     // empty: all
  std::string steps;       // to read alone; empty: all
  std::string from_ms;     // the part to read; empty: from the beginning
  std::string to_ms;       // ... to the end
  std::string rank;        // of a file with several; empty: the one that bounds the job
  std::string capture;     // of replayed GPU graphs; empty: beside the trace
  std::string extension;   // empty: none
  std::string reference;   // a second trace; empty: none
  bool overwrite = false;
  bool help = false;
};

std::vector<Flag> AnalyzeFlags(Request* request) {
  return {
      {{"--trace"}, &request->trace},
      {{"--output-dir", "--output_dir", "--output", "-o"},
       &request->output_dir,
       "  --output-dir DIR  where all files go; default: a folder for the trace in "
       "jarvis_out/\n"},
      {{"--platform"},
       &request->platform,
       "  --platform NAME   the GPU that efficiency is measured against: MI300X, H100... or a "
       "JSON\n"
       "                    file; default: the trace's device\n"},
      {{"--reports"},
       &request->reports,
       "  --reports LIST    any of fair (standalone_analysis_fair.md), rough\n"
       "                    (standalone_analysis_rough.md) and analysis (analysis.md); default: "
       "all\n"},
      {{"--steps"},
       &request->steps,
       "  --steps 5-7       only these steps of the recording, by the profiler's numbers\n"},
      {{"--from"},
       &request->from_ms,
       "  --from MS         only from this time on, in milliseconds since the first event\n"},
      {{"--to"}, &request->to_ms, "  --to MS           only until this time\n"},
      {{"--rank"},
       &request->rank,
       "  --rank N          of a file with several ranks this one; default: the one that bounds "
       "the "
       "job\n"},
      {{"--capture"},
       &request->capture,
       "  --capture PATH    traces that were recorded while the replayed GPU graphs were captured: "
       "a\n"
       "                    file, or a folder of them; default: the folder \"capture\" beside the "
       "trace\n"},
      {{"--extension"},
       &request->extension,
       "  --extension FILE  performance models and words of yours (docs/models.md)\n"},
      {{"--compare"},
       &request->reference,
       "  --compare BASELINE\n"
       "                    also compares the trace with this one: "
       "DIR/comparative_analysis_fair.md,\n"
       "                    comparative_analysis_rough.md, comparison.xlsx, comparison_csvs/ and "
       "the\n"
       "                    baseline's tables in DIR/baseline_perf_report.xlsx and _csvs/\n"},
      {{"--overwrite"},
       &request->overwrite,
       "  --overwrite       replace files in DIR that jarvis did not write\n"},
      {{"--help", "-h"}, &request->help},
  };
}

Result<Request> Parse(Arguments arguments) {
  Request request;
  FlagRules rules;
  rules.other = [&](std::string_view word, bool) -> Status {
    if (word.starts_with("-") || !request.trace.empty()) {
      return Fail(ErrorCode::kBadValue, fmt::format("analyze does not take \"{}\"", word));
    }
    request.trace = word;
    return {};
  };
  JV_TRY(ParseFlags(AnalyzeFlags(&request), arguments, rules));
  if (!request.help && request.trace.empty())
    return Fail(ErrorCode::kBadValue, "analyze needs a trace");
  return request;
}

std::string AnalyzeHelp() {
  Request request;
  return std::string(kUsage) + FlagsHelp(AnalyzeFlags(&request));
}

// "fair,analysis"
Json ListOf(std::string_view text) {
  Json list = Json::array();
  while (!text.empty()) {
    const std::string_view raw = text.substr(0, text.find(','));
    if (const std::string_view name = Trim(raw); !name.empty()) list.push_back(name);
    text.remove_prefix(std::min(text.size(), raw.size() + 1));
  }
  return list;
}

struct Step {
  std::string_view tool;
  Json arguments;
};

Json ReportArguments(const std::string& path) {
  return {{"output_dir", path + "_csvs"},
          {"output_xlsx", path + ".xlsx"},
          {"kernel_summary", true},
          {"short_kernel_study", true}};
}

// In the order in which an agent would ask.
std::vector<Step> StepsOf(const Request& request) {
  const std::string& directory = request.output_dir;
  Json reports = {{"output_dir", directory}};
  if (!request.reports.empty()) reports["reports"] = ListOf(request.reports);
  std::vector<Step> steps = {{"load_trace", Json::object()},
                             {"gpu_timeline", Json::object()},
                             {"ops_summary", Json::object()},
                             {"perf_report", ReportArguments(directory + "/perf_report")},
                             {"category_filter", {{"output_dir", directory}, {"drafts", false}}},
                             {"render_report", std::move(reports)}};
  if (!request.reference.empty()) {
    Json report = ReportArguments(directory + "/baseline_perf_report");
    report["trace"] = request.reference;
    steps.push_back({"perf_report", std::move(report)});
    steps.push_back({"compare",
                     {{"candidate", request.trace},
                      {"baseline", request.reference},
                      {"output_dir", directory}}});
  }
  return steps;
}

// With what the request says of every step, as far as the tool takes it.
Json ArgumentsOf(const mcp::Tool& tool, Step step, const Request& request) {
  const Json& known = tool.input_schema().at("properties");
  const auto add = [&](const char* name, Json value) {
    if (known.contains(name)) step.arguments[name] = std::move(value);
  };
  // A step that is about the other trace says so itself.
  if (!step.arguments.contains("trace")) {
    add("trace", request.trace);
    if (!request.platform.empty()) add("platform", request.platform);
    if (!request.capture.empty()) add("capture", request.capture);
  }
  if (!request.extension.empty()) add("extension", request.extension);
  if (request.overwrite) add("overwrite", true);
  return std::move(step.arguments);
}

// What the analysis of the reports is asked with.
Json AnalysisArguments(const Request& request) {
  Json arguments = {{"trace", request.trace}};
  if (!request.platform.empty()) arguments["platform"] = request.platform;
  if (!request.capture.empty()) arguments["capture"] = request.capture;
  if (!request.extension.empty()) arguments["extension"] = request.extension;
  return arguments;
}

// The files that were written.
Json FolderArguments(const Request& request) {
  Json arguments = AnalysisArguments(request);
  arguments["output_dir"] = request.output_dir;
  return arguments;
}

// Loads the part of the recording that is asked for; from then on it is the trace. An exit code.
int LoadPart(const mcp::ToolSet& tools, Request* request) {
  Json flags = Json::object();
  for (const auto& [name, value] :
       {std::pair("steps", request->steps), std::pair("from_ms", request->from_ms),
        std::pair("to_ms", request->to_ms), std::pair("rank", request->rank)}) {
    if (!value.empty()) flags[name] = value;
  }
  if (flags.empty()) return kExitOk;
  if (!request->capture.empty()) flags["capture"] = request->capture;
  Json trace = request->trace;
  const int code = LoadWithFlags(tools, flags, &trace);
  if (code == kExitOk) request->trace = trace.get<std::string>();
  return code;
}

// Of each file with several ranks one is meant, of both the same where they have it; from then on
// it is the trace. An exit code.
int ChooseRanks(session::Workspace& workspace, Request* request) {
  return RunWatched([&](Job& job) -> Status {
    JV_ASSIGN(const tools::OneRank one,
              tools::OneRankOf(workspace, AnalysisArguments(*request), job));
    request->trace = one.arguments.at("trace").get<std::string>();
    if (request->reference.empty()) return {};
    JV_ASSIGN(const tools::OneRank reference,
              tools::OneRankOf(workspace, {{"trace", request->reference}}, job, one.rank));
    request->reference = reference.arguments.at("trace").get<std::string>();
    return {};
  });
}

// The answers of the steps, by tool.
using Answers = std::vector<std::pair<std::string_view, Json>>;

const Json& AnswerOf(const Answers& answers, std::string_view tool) {
  static const Json kNone = Json::object();
  const auto found = std::find_if(answers.begin(), answers.end(),
                                  [&](const auto& answer) { return answer.first == tool; });
  return found == answers.end() ? kNone : found->second;
}

// What comes first, and where the rest stands.
Result<std::string> SummaryOf(session::Workspace& workspace, const Request& request,
                              const Answers& answers, Job& job) {
  JV_ASSIGN(std::string text, tools::FrontText(workspace, FolderArguments(request),
                                               TerminalLookOf(STDOUT_FILENO), job));
  text += '\n';
  if (!request.reference.empty())
    text += "Compared with the baseline: " +
            WithoutEmphasis(AnswerOf(answers, "compare").value("summary", "")) + "\n\n";
  text += "Reports, tables and findings in " + request.output_dir + ":";
  for (const char* tool : {"render_report", "compare"}) {
    for (const Json& file : AnswerOf(answers, tool).value("files", Json::array())) {
      const std::string name = file.value("what", "");
      if (name.find('/') == std::string::npos && name.ends_with(".md")) text += " " + name;
    }
  }
  const Json& written = AnswerOf(answers, "render_report");
  if (!written.value("valid", true)) text += "\n" + written.value("summary", "");
  if (::isatty(STDOUT_FILENO) != 0)
    text += "\nTo look at: " + request.output_dir + "/" + std::string(page::kPageFile);
  return text;
}

// What a step leaves free is the next one's, up to here: beyond it keeping it costs more memory
// than asking the system again costs time.
void GiveBackMuch() {
  constexpr std::size_t kFreeMax = std::size_t{64} << 20;
  if (::mallinfo2().fordblks > kFreeMax) ::malloc_trim(0);
}

}  // namespace

int Analyze(Arguments arguments) {
  Result<Request> parsed = Parse(arguments);
  if (!parsed) return UsageError(parsed.error().message);
  Request& request = *parsed;
  if (request.help) return Print(AnalyzeHelp()) ? kExitOk : kExitFailure;
  static_cast<void>(rpc::SignalWatcher::Block());
  Toolbox toolbox;
  if (const int code = LoadPart(toolbox.tools, &request); code != kExitOk) return code;
  // Of the reports, while the first tools answer and the tables are made.
  const tools::AnalysisAhead ahead(toolbox.workspace, AnalysisArguments(request));
  if (const int code = ChooseRanks(toolbox.workspace, &request); code != kExitOk) return code;
  std::vector<Step> steps = StepsOf(request);
  Answers answers;
  const bool watched = ::isatty(STDERR_FILENO) != 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const mcp::Tool& tool = *toolbox.tools.Find(steps[i].tool);
    mcp::ToolReply reply;
    const int code = RunTool(tool, ArgumentsOf(tool, steps[i], request), &reply);
    if (code != kExitOk) return code;
    GiveBackMuch();
    // How it goes on is for whoever watches; the answer alone is the output.
    if (watched) fmt::print(stderr, "[{}/{}] {}\n", i + 1, steps.size(), steps[i].tool);
    answers.emplace_back(steps[i].tool, std::move(reply.structured));
    if (!request.output_dir.empty()) continue;
    request.output_dir =
        io::FilePolicy().DefaultOutput(AnswerOf(answers, "load_trace").value("trace", "trace"));
    steps = StepsOf(request);
  }
  std::string summary;
  const int code = RunWatched([&](Job& job) -> Status {
    JV_ASSIGN(summary, SummaryOf(toolbox.workspace, request, answers, job));
    return {};
  });
  if (code != kExitOk) return code;
  if (!PrintStyled(summary)) return kExitFailure;
  return AnswerOf(answers, "render_report").value("valid", true) ? kExitOk : kExitFailure;
}

}  // namespace jarvis::app
