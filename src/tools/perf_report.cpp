#include <fmt/format.h>

#include "engine/report.h"
#include "output/csv_writer.h"
#include "tools/tools.h"

namespace jarvis::tools {
namespace {

engine::ReportOptions OptionsOf(const Json& arguments) {
  engine::ReportOptions options;
  if (arguments.at("compat").get<std::string>() == "tracelens")
    options.compat = engine::Compat::kTraceLens;
  options.include_unlinked_kernels = arguments.at("include_unlinked_kernels").get<bool>();
  options.detect_recompute = arguments.at("detect_recompute").get<bool>();
  options.kernel_summary = arguments.at("kernel_summary").get<bool>();
  options.short_kernel_study = arguments.at("short_kernel_study").get<bool>();
  options.short_kernels.threshold_us = arguments.at("short_kernel_threshold_us").get<double>();
  options.short_kernels.bins = arguments.at("short_kernel_histogram_bins").get<std::int64_t>();
  if (arguments.contains("topk_short_kernels")) {
    options.short_kernels.topk = arguments.at("topk_short_kernels").get<std::int64_t>();
  }
  if (arguments.contains("micro_idle_thresh_us")) {
    options.micro_idle_thresh_us = arguments.at("micro_idle_thresh_us").get<double>();
  }
  return options;
}

}  // namespace

Result<Answer> PerfReport(engine::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  const engine::ReportOptions options = OptionsOf(arguments);
  JV_ASSIGN(const std::vector<Table> tables, engine::MakeReport(*trace, options, job));
  const std::string directory = OutputDirectory(arguments, *trace);
  Answer answer;
  answer.trace = trace->id();
  for (const Table& table : tables) {
    JV_TRY(job.Check());
    JV_ASSIGN(std::string path, output::WriteCsv(table, directory));
    answer.files.push_back({std::move(path), table.name, table.rows.size()});
  }
  answer.summary = fmt::format("Wrote {} tables to {}.", tables.size(), directory);
  if (options.compat == engine::Compat::kTraceLens) {
    answer.notes = {
        "compat=tracelens reproduces the reference's numbers with its quirks: GPU work it "
        "cannot link is left out"};
  } else {
    answer.notes = CoverageNotes(*trace);
  }
  answer.next = {{"ops_summary", {{"trace", trace->id()}}, "the same numbers as an answer"}};
  return answer;
}

}  // namespace jarvis::tools
