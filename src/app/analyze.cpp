// jarvis analyze: the whole of an analysis without an agent, by the same tools: load, tables,
// categories, and where the time went.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/tool_run.h"
#include "app/toolbox.h"
#include "rpc/signal_watcher.h"

namespace jarvis::app {
namespace {

constexpr std::string_view kUsage =
    "usage: jarvis analyze TRACE --output-dir DIR [--platform NAME] [--extension FILE] "
    "[--overwrite]\n"
    "\n"
    "Loads the trace, writes the report (DIR/perf_report.xlsx, DIR/perf_report_csvs/*.csv) and "
    "the\n"
    "category files (DIR/category_data/, DIR/metadata/), and prints where the GPU's time went.\n"
    "\n"
    "  --platform NAME   the GPU that efficiency is measured against: MI300X, H100... or a JSON\n"
    "                    file; default: the trace's device\n"
    "  --extension FILE  performance models of yours (docs/models.md)\n"
    "  --overwrite       replace files in DIR that jarvis did not write\n";

struct Request {
  std::string trace;
  std::string output_dir;
  std::string platform;   // empty: the trace's device
  std::string extension;  // empty: none
  bool overwrite = false;
  bool help = false;
};

// The member that an option sets; null: no option.
std::string Request::*ValueOf(std::string_view option) {
  if (option == "--trace") return &Request::trace;
  if (option == "--output-dir" || option == "--output_dir" || option == "-o") {
    return &Request::output_dir;
  }
  if (option == "--platform") return &Request::platform;
  if (option == "--extension") return &Request::extension;
  return nullptr;
}

Result<Request> Parse(Arguments arguments) {
  Request request;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      request.help = true;
    } else if (argument == "--overwrite") {
      request.overwrite = true;
    } else if (std::string Request::*const value = ValueOf(argument)) {
      if (++i == arguments.size()) {
        return Fail(ErrorCode::kBadValue, fmt::format("{} needs a value", argument));
      }
      request.*value = arguments[i];
    } else if (argument.starts_with("-") || !request.trace.empty()) {
      return Fail(ErrorCode::kBadValue, fmt::format("analyze does not take \"{}\"", argument));
    } else {
      request.trace = argument;
    }
  }
  if (!request.help && (request.trace.empty() || request.output_dir.empty())) {
    return Fail(ErrorCode::kBadValue, "analyze needs a trace and --output-dir");
  }
  return request;
}

struct Step {
  std::string_view tool;
  rpc::Json arguments;
  Output output;
};

std::vector<Step> StepsOf(const Request& request) {
  const rpc::Json& trace = request.trace;
  rpc::Json summary = {{"trace", trace}};
  rpc::Json report = {{"trace", trace},
                      {"output_dir", request.output_dir + "/perf_report_csvs"},
                      {"output_xlsx", request.output_dir + "/perf_report.xlsx"},
                      {"overwrite", request.overwrite},
                      {"kernel_summary", true},
                      {"short_kernel_study", true}};
  if (!request.platform.empty()) {
    summary["platform"] = request.platform;
    report["platform"] = request.platform;
  }
  if (!request.extension.empty()) report["extension"] = request.extension;
  return {{"load_trace", {{"trace", trace}}, Output::kText},
          {"gpu_timeline", {{"trace", trace}}, Output::kText},
          {"ops_summary", std::move(summary), Output::kText},
          {"perf_report", std::move(report), Output::kSummary},
          {"category_filter",
           {{"trace", trace}, {"output_dir", request.output_dir}, {"overwrite", request.overwrite}},
           Output::kSummary}};
}

}  // namespace

int Analyze(Arguments arguments) {
  const Result<Request> request = Parse(arguments);
  if (!request) return UsageError(request.error().message);
  if (request->help) return Print(kUsage) ? kExitOk : kExitFailure;
  static_cast<void>(rpc::SignalWatcher::Block());
  const Toolbox toolbox;
  for (const Step& step : StepsOf(*request)) {
    const int code = RunTool(*toolbox.tools.Find(step.tool), step.arguments, step.output);
    if (code != kExitOk) return code;
  }
  return kExitOk;
}

}  // namespace jarvis::app
