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
  const std::pair<const char*, bool engine::ReportOptions::*> switches[] = {
      {"include_unlinked_kernels", &engine::ReportOptions::include_unlinked_kernels},
      {"detect_recompute", &engine::ReportOptions::detect_recompute},
      {"enable_pseudo_ops", &engine::ReportOptions::enable_pseudo_ops},
      {"group_by_num_kernels", &engine::ReportOptions::group_by_num_kernels},
      {"include_first_occurrence_time", &engine::ReportOptions::include_first_occurrence_time},
      {"include_overlap_info", &engine::ReportOptions::include_overlap_info},
      {"include_call_stack", &engine::ReportOptions::include_call_stack},
      {"inference", &engine::ReportOptions::inference},
      {"group_by_parent_module", &engine::ReportOptions::group_by_parent_module},
      {"coll_analysis", &engine::ReportOptions::coll_analysis},
      {"kernel_summary", &engine::ReportOptions::kernel_summary},
      {"short_kernel_study", &engine::ReportOptions::short_kernel_study},
  };
  for (const auto& [name, option] : switches)
    options.*option = arguments.at(name).get<bool>();
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
