#include <filesystem>

#include <fmt/format.h>

#include "base/parallel.h"
#include "findings/one/quality.h"
#include "io/output_folder.h"
#include "session/report.h"
#include "table/column_place.h"
#include "tools/shared/arguments.h"
#include "tools/shared/extension_choice.h"
#include "tools/shared/platform_choice.h"
#include "tools/shared/table_files.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

session::ReportOptions OptionsOf(const Json& arguments) {
  session::ReportOptions options;
  if (arguments.at("compat").get<std::string>() == "tracelens")
    options.compat = session::Compat::kTraceLens;
  const std::pair<const char*, bool session::ReportOptions::*> switches[] = {
      {"include_unlinked_kernels", &session::ReportOptions::include_unlinked_kernels},
      {"detect_recompute", &session::ReportOptions::detect_recompute},
      {"pseudo_ops", &session::ReportOptions::pseudo_ops},
      {"group_by_num_kernels", &session::ReportOptions::group_by_num_kernels},
      {"include_first_occurrence_time", &session::ReportOptions::include_first_occurrence_time},
      {"include_overlap_info", &session::ReportOptions::include_overlap_info},
      {"include_call_stack", &session::ReportOptions::include_call_stack},
      {"inference", &session::ReportOptions::inference},
      {"group_by_parent_module", &session::ReportOptions::group_by_parent_module},
      {"coll_analysis", &session::ReportOptions::coll_analysis},
      {"kernel_summary", &session::ReportOptions::kernel_summary},
      {"short_kernel_study", &session::ReportOptions::short_kernel_study},
  };
  for (const auto& [name, option] : switches)
    options.*option = arguments.at(name).get<bool>();
  options.short_kernels.threshold_us = arguments.at("short_kernel_threshold_us").get<double>();
  options.short_kernels.bins = arguments.at("short_kernel_histogram_bins").get<std::int64_t>();
  if (arguments.contains("topk_short_kernels")) {
    options.short_kernels.topk = arguments.at("topk_short_kernels").get<std::int64_t>();
  }
  for (const auto& [name, option] :
       {std::pair("topk_ops", &session::ReportOptions::topk_ops),
        std::pair("topk_roofline_ops", &session::ReportOptions::topk_roofline_ops)}) {
    if (arguments.contains(name)) options.*option = arguments.at(name).get<std::int64_t>();
  }
  if (arguments.contains("micro_idle_thresh_us")) {
    options.micro_idle_thresh_us = arguments.at("micro_idle_thresh_us").get<double>();
  }
  return options;
}

// How much of the time has a model.
std::string ModelNote(const std::vector<Table>& tables) {
  for (const Table& table : tables) {
    if (table.name != "model_coverage" || table.rows.empty()) continue;
    const auto* share =
        std::get_if<double>(&table.rows.front()[PlaceOf(table.columns, "share of time (%)")]);
    if (share == nullptr) return "no GPU time, so no work to judge";
    return fmt::format(
        "{:.1f} % of the GPU time has a performance model; model_coverage says why "
        "the rest has none",
        *share);
  }
  return "model_coverage is missing";
}

// The platform and where it comes from. In compatible mode there is one only if it is named.
Result<PlatformChoice> PlatformOf(const io::FilePolicy& files, const Json& arguments,
                                  const session::LoadedTrace& trace, bool compatible) {
  std::string wanted = arguments.value("platform", "");
  const std::string file = arguments.value("gpu_arch", "");
  if (!wanted.empty() && !file.empty()) {
    return Fail(ErrorCode::kBadValue, "platform and gpu_arch are both given", "give one of them");
  }
  if (!file.empty()) wanted = file;
  if (wanted.empty() && compatible) return PlatformChoice{};
  return ChoosePlatform(files, wanted, &trace);
}

// The trace to compare with; null: none was named.
Result<TracePtr> ComparisonOf(session::Workspace& workspace, const Json& arguments, Job& job) {
  const auto capture = TextArgument(arguments, "baseline_capture");
  if (!arguments.contains("baseline")) {
    if (!capture) return nullptr;
    return Fail(ErrorCode::kBadValue, "baseline_capture needs a baseline",
                "give baseline, or capture for the trace itself");
  }
  Json asked = {{"trace", arguments.at("baseline")}};
  if (capture) asked["capture"] = *capture;
  return OpenTrace(workspace, asked, job);
}

// Where a report goes: one folder for the tables and the workbook, or one for each.
struct Places {
  std::string tables;
  std::string book_folder;  // empty: no workbook
  std::string book_name;
};

Result<Places> PlacesOf(const session::Workspace& workspace, const Json& arguments,
                        const session::LoadedTrace& trace) {
  Places places;
  JV_ASSIGN(places.tables, OutputDirectory(workspace, arguments, trace));
  const std::string book = arguments.value("output_xlsx", "");
  if (book.empty()) return places;
  if (!book.ends_with(".xlsx")) {
    return Fail(ErrorCode::kBadValue, "output_xlsx: the name of a workbook ends in .xlsx",
                "give one such as report.xlsx");
  }
  JV_ASSIGN(const std::string path, workspace.files().ResolveOutput(book));
  const std::filesystem::path split(path);
  places.book_folder = split.parent_path().string();
  places.book_name = split.filename().string();
  return places;
}

struct Folders {
  std::unique_ptr<io::OutputFolder> tables;
  std::unique_ptr<io::OutputFolder> apart;  // the workbook's, if it is another

  io::OutputFolder& book() { return apart == nullptr ? *tables : *apart; }
};

// Opens both and makes sure that everything may be written.
Result<Folders> OpenFolders(const io::FilePolicy& files, const Places& places,
                            const std::vector<Table>& tables, bool overwrite, Job& job) {
  std::vector<std::string> names;
  for (const Table& table : tables)
    names.push_back(table.name + ".csv");
  const bool book = !places.book_folder.empty();
  const bool apart = book && places.book_folder != places.tables;
  Folders folders;
  if (apart && places.book_folder < places.tables) {  // in the order of their paths
    JV_ASSIGN(folders.apart, io::OutputFolder::Open(files, places.book_folder, job));
  }
  JV_ASSIGN(folders.tables, io::OutputFolder::Open(files, places.tables, job));
  if (apart && folders.apart == nullptr) {
    JV_ASSIGN(folders.apart, io::OutputFolder::Open(files, places.book_folder, job));
  }
  if (apart) JV_TRY(folders.apart->Claim({places.book_name}, overwrite));
  if (book && !apart) names.push_back(places.book_name);
  JV_TRY(folders.tables->Claim(names, overwrite));
  return folders;
}

Status WriteFiles(const std::vector<Table>& tables, const Places& places, Folders folders,
                  output::CsvFormulas formulas, Answer* answer) {
  JV_TRY(WriteTables(tables, *folders.tables, folders.book(), places.book_name, answer, formulas));
  if (folders.apart != nullptr) JV_TRY(folders.apart->Commit());
  return folders.tables->Commit();
}

}  // namespace

Result<Answer> PerfReport(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(const Places places, PlacesOf(workspace, arguments, *trace));
  session::ReportOptions options = OptionsOf(arguments);
  const bool compatible = options.compat == session::Compat::kTraceLens;
  JV_ASSIGN(PlatformChoice platform, PlatformOf(workspace.files(), arguments, *trace, compatible));
  JV_ASSIGN(const Extension extension,
            ChooseExtension(workspace.files(), arguments, *trace, options.compat, job));
  options.models = extension.models;
  options.platform = platform.platform;
  JV_ASSIGN(options.comparison, ComparisonOf(workspace, arguments, job));
  Result<std::vector<Table>> made;
  RunBeside([&] { made = session::MakeReport(*trace, options, job); },
            [&] {
              // For the notes below.
              if (!compatible) static_cast<void>(findings::QualityOf(*trace, job));
            });
  JV_ASSIGN(const std::vector<Table> tables, std::move(made));
  Answer answer;
  answer.trace = trace->id();
  JV_ASSIGN(Folders folders,
            OpenFolders(workspace.files(), places, tables, MayOverwrite(arguments), job));
  JV_TRY(job.Check());
  JV_TRY(WriteFiles(tables, places, std::move(folders),
                    compatible ? output::CsvFormulas::kAsIs : output::CsvFormulas::kQuoted,
                    &answer));
  answer.summary = fmt::format("Wrote {} tables to {}.", tables.size(), places.tables);
  if (options.compat == session::Compat::kTraceLens) {
    answer.notes.push_back(
        "compat=tracelens reproduces the reference's numbers with its quirks: GPU work it "
        "cannot link is left out");
  } else {
    for (std::string& note : CoverageNotes(*trace))
      answer.notes.push_back(std::move(note));
    answer.notes.push_back(ModelNote(tables));
  }
  const session::CaptureUse& capture = trace->capture();
  if (options.inference && capture.replays > 0) {
    answer.notes.push_back(
        compatible ? fmt::format("what aligns with {} captures is merged as the reference does it",
                                 trace->captures().size())
                   : fmt::format("{} of {} replays have the ops and shapes of their capture",
                                 capture.aligned, capture.replays));
  }
  if (options.comparison != nullptr) {
    answer.notes.push_back(
        fmt::format("compared with {}: trace 1 is {}, trace 2 the other; trace_diff answers where "
                    "they part",
                    options.comparison->id(), trace->id()));
  }
  if (!platform.note.empty()) answer.notes.push_back(platform.note);
  answer.next = {{"ops_summary", {{"trace", trace->id()}}, "the same numbers as an answer"}};
  return answer;
}

}  // namespace jarvis::tools
