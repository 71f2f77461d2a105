#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "engine/comparability.h"
#include "engine/compare_reports.h"
#include "engine/compare_traces.h"
#include "output/number_format.h"
#include "tools/platform_choice.h"
#include "tools/tools.h"

namespace jarvis::tools {
namespace {

using analysis::GroupBy;
using engine::CompareRow;
using engine::TraceComparison;

GroupBy GroupByOf(const std::string& by) {
  if (by == "category") return GroupBy::kCategory;
  if (by == "kernel") return GroupBy::kKernel;
  if (by == "module") return GroupBy::kModule;
  return GroupBy::kOp;
}

std::string ShortName(const std::string& name, GroupBy by) {
  constexpr std::string_view kUnlinked = "(unlinked) ";
  if (by == GroupBy::kKernel) return analysis::ShortKernelName(name);
  if (!name.starts_with(kUnlinked)) return name;
  return std::string(kUnlinked) +
         analysis::ShortKernelName(std::string_view(name).substr(kUnlinked.size()));
}

std::string ShortShape(const CompareRow& row) {
  constexpr std::size_t kLength = 72;
  if (row.arguments_differ) return "(other arguments)";
  std::string shape = row.shape;
  static constexpr std::string_view kScalar = ", ()";
  while (shape.size() > kScalar.size() + 1 &&
         std::string_view(shape).substr(0, shape.size() - 1).ends_with(kScalar)) {
    shape.erase(shape.size() - 1 - kScalar.size(), kScalar.size());
  }
  return shape.size() > kLength ? std::string(Utf8Prefix(shape, kLength)) + "..." : shape;
}

Cell Inverse(const std::optional<double>& ratio) {
  return ratio && *ratio > 0 ? Cell(1 / *ratio) : Cell();
}

std::vector<Cell> CellsOf(const CompareRow& row, GroupBy by, bool bounds) {
  std::vector<Cell> cells = {ShortName(row.name, by)};
  if (by == GroupBy::kOp) {
    const std::string shape = ShortShape(row);
    cells.push_back(shape.empty() ? Cell() : Cell(shape));
  }
  cells.insert(cells.end(), {CellOf(row.primary_ms), CellOf(row.comparison_ms), CellOf(row.ratio),
                             Inverse(row.ratio), CellOf(row.expected), CellOf(row.unexpected_ms),
                             std::string(engine::VerdictText(row.verdict)), row.primary_calls,
                             row.comparison_calls});
  if (bounds) {
    cells.push_back(
        !row.bound ? Cell()
                   : Cell(std::string(*row.bound == perf::Bound::kMemory ? "memory" : "compute")));
  }
  return cells;
}

// All that is in one trace only, as a row.
std::vector<Cell> UnmatchedCells(const char* where, std::uint64_t rows, double ms, bool primary,
                                 std::size_t columns, bool shape) {
  CompareRow row;
  row.name = fmt::format("(all {} rows only in {})", rows, where);
  (primary ? row.primary_ms : row.comparison_ms) = ms;
  row.unexpected_ms = primary ? ms : -ms;
  row.verdict =
      primary ? engine::CompareVerdict::kOnlyInPrimary : engine::CompareVerdict::kOnlyInComparison;
  std::vector<Cell> cells = CellsOf(row, shape ? GroupBy::kOp : GroupBy::kModule, false);
  // Rows have calls; their sum says nothing here.
  cells[cells.size() - 1] = Cell();
  cells[cells.size() - 2] = Cell();
  cells.resize(columns);
  return cells;
}

// Where the windows of both went, in milliseconds (not a step).
Json TimesOf(const engine::LoadedTrace& trace) {
  Json times = Json::object();
  if (!trace.timeline()) return times;
  const analysis::GpuTimeline& timeline = *trace.timeline();
  for (const auto& [name, us] :
       {std::pair("window_ms", timeline.total), std::pair("busy_ms", timeline.busy),
        std::pair("idle_ms", timeline.idle), std::pair("exposed_comm_ms", timeline.exposed_comm),
        std::pair("exposed_copy_ms", timeline.exposed_memcpy)}) {
    times[name] = output::Rounded(us / 1000);
  }
  return times;
}

std::string Ratio(double a, double b) {
  return b > 0 ? output::CellText(Cell(a / b)) : std::string("unknown");
}

std::string Headline(const engine::Comparability& comparability, const TraceComparison& result) {
  std::string text = fmt::format("{}: {} of 100.", comparability.verdict, comparability.score);
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (!(result.primary_ms > 0) && !(result.comparison_ms > 0)) {
    return text + " Neither trace has GPU time to compare.";
  }
  text += fmt::format(
      " GPU time{}: primary {} ms, comparison {} ms; primary / comparison {}, comparison / primary "
      "{}.",
      result.per_step ? " a step" : "", output::CellText(Cell(result.primary_ms)),
      output::CellText(Cell(result.comparison_ms)), Ratio(result.primary_ms, result.comparison_ms),
      Ratio(result.comparison_ms, result.primary_ms));
  if (result.expected) {
    text += fmt::format(" Expected from the devices: {} for {:.1f} % of the primary's time.",
                        output::CellText(Cell(*result.expected)),
                        Percent(result.expected_known_ms, result.primary_ms).value_or(0));
  } else {
    text += " What the devices explain is not known.";
  }
  return text;
}

std::string PlatformNote(const PlatformChoice& primary, const PlatformChoice& comparison,
                         bool same_device) {
  if (same_device) return "the same device: expected is 1";
  if (primary.platform && comparison.platform) {
    return fmt::format(
        "expected: the roofs of the rows' work on {} over those on {}; {} and {} GB/s, and "
        "achievable FLOP/s where arithmetic sets the roof",
        primary.platform->name, comparison.platform->name,
        primary.platform->mem_bw_gbps.value_or(0), comparison.platform->mem_bw_gbps.value_or(0));
  }
  const bool of_primary = !primary.platform;
  return fmt::format(
      "no expected ratios: the {} trace: {}{}", of_primary ? "primary" : "comparison",
      of_primary ? primary.note : comparison.note, of_primary ? "" : " (comparison_platform)");
}

// The files, of the comparison as baseline: differences are primary minus comparison.
Status AddFiles(engine::Workspace& workspace, const Json& arguments, Job& job, Answer* answer) {
  const auto given = TextArgument(arguments, "output_dir");
  if (!given) return {};
  engine::CompareRequest request;
  request.inputs = {arguments.at("comparison").get<std::string>(),
                    arguments.at("primary").get<std::string>()};
  if (const auto names = arguments.find("names"); names != arguments.end()) {
    request.names = names->get<std::vector<std::string>>();
    std::reverse(request.names.begin(), request.names.end());
  } else {
    request.names = {"comparison", "primary"};
  }
  if (arguments.at("compat").get<std::string>() == "tracelens")
    request.compat = engine::Compat::kTraceLens;
  JV_ASSIGN(const engine::ReportComparison comparison,
            engine::CompareReports(workspace, request, job));
  std::error_code ignored;
  const std::string directory =
      std::filesystem::absolute(*given, ignored).lexically_normal().string();
  JV_ASSIGN(const std::vector<engine::ComparisonFile> files,
            engine::WriteComparison(comparison, directory));
  // The workbook and what is read first; the others lie beside them.
  for (const engine::ComparisonFile& file : files) {
    if (file.what == "workbook" || file.what == "gpu_timeline" || file.what == "ops_summary" ||
        file.what == "kernel_summary") {
      answer->files.push_back({file.path, file.what, file.rows});
    }
  }
  answer->notes.push_back(
      fmt::format("{} tables in {}; there {} is the baseline: differences are {} minus {}",
                  comparison.tables.size(), directory, comparison.tags[0], comparison.tags[1],
                  comparison.tags[0]));
  for (const std::string& note : comparison.notes)
    answer->notes.push_back(note);
  return {};
}

// Reports without their traces: the timelines side by side, and the files.
Result<Answer> CompareDirectories(engine::Workspace& workspace, const Json& arguments, Job& job) {
  engine::CompareRequest request;
  request.inputs = {arguments.at("comparison").get<std::string>(),
                    arguments.at("primary").get<std::string>()};
  request.names = {"comparison", "primary"};
  request.sheets = {"gpu_timeline"};
  JV_ASSIGN(const engine::ReportComparison comparison,
            engine::CompareReports(workspace, request, job));
  Answer answer;
  answer.summary =
      "Two reports: how comparable the runs are, and what the devices explain, is known from "
      "traces only.";
  if (!comparison.tables.empty()) {
    const Table& table = comparison.tables.front();
    answer.columns = table.columns;
    answer.rows = table.rows;
    answer.total = table.rows.size();
  }
  JV_TRY(AddFiles(workspace, arguments, job, &answer));
  if (answer.files.empty()) {
    answer.notes.emplace_back("pass output_dir for every table of both reports");
  }
  return answer;
}

void AddRows(const TraceComparison& result, GroupBy by, const Json& arguments, bool bounds,
             Answer* answer) {
  const bool shapes = by == GroupBy::kOp;
  answer->columns = {arguments.at("by").get<std::string>()};
  if (shapes) answer->columns.emplace_back("shape");
  answer->columns.insert(answer->columns.end(),
                         {"primary_ms", "comparison_ms", "primary_over_comparison",
                          "comparison_over_primary", "expected_primary_over_comparison",
                          "unexpected_ms", "verdict", "primary_calls", "comparison_calls"});
  if (bounds) answer->columns.emplace_back("bound");
  // What is in one trace only always stands first, whatever the rest is.
  constexpr std::uint64_t kFixed = 2;
  const std::size_t columns = answer->columns.size();
  answer->total = result.rows.size() + kFixed;
  const auto limit = arguments.at("limit").get<std::uint64_t>();
  const std::uint64_t end = std::min(answer->total, answer->offset + limit + kFixed);
  for (std::uint64_t r = answer->offset; r < end; ++r) {
    if (r == 0) {
      answer->rows.push_back(UnmatchedCells("primary", result.only_primary_rows,
                                            result.only_primary_ms, true, columns, shapes));
    } else if (r == 1) {
      answer->rows.push_back(UnmatchedCells("comparison", result.only_comparison_rows,
                                            result.only_comparison_ms, false, columns, shapes));
    } else {
      answer->rows.push_back(CellsOf(result.rows[r - kFixed], by, bounds));
    }
  }
}

}  // namespace

Result<Answer> Compare(engine::Workspace& workspace, const Json& arguments, Job& job) {
  const std::string paths[2] = {arguments.at("primary").get<std::string>(),
                                arguments.at("comparison").get<std::string>()};
  if (engine::IsReportDirectory(paths[0]) || engine::IsReportDirectory(paths[1])) {
    return CompareDirectories(workspace, arguments, job);
  }
  JV_ASSIGN(const TracePtr primary, workspace.Open(paths[0], job));
  JV_ASSIGN(const TracePtr comparison, workspace.Open(paths[1], job));
  const std::string wanted[2] = {TextArgument(arguments, "platform").value_or(""),
                                 TextArgument(arguments, "comparison_platform").value_or("")};
  JV_ASSIGN(const PlatformChoice platform, ChoosePlatform(wanted[0], primary.get()));
  JV_ASSIGN(const PlatformChoice other, ChoosePlatform(wanted[1], comparison.get()));
  const std::string by_name = arguments.at("by").get<std::string>();
  const GroupBy by = GroupByOf(by_name);
  Answer answer;
  answer.cursor_key = fmt::format("compare/{}/{}/{}/{}/{}", primary->id(), comparison->id(),
                                  by_name, wanted[0], wanted[1]);
  if (const auto cursor = TextArgument(arguments, "cursor")) {
    JV_ASSIGN(answer.offset, ReadCursor(answer.cursor_key, *cursor));
  }
  const engine::Comparability comparability = engine::Compare(*primary, *comparison);
  JV_ASSIGN(
      const TraceComparison result,
      engine::CompareTraces({*primary, platform.platform}, {*comparison, other.platform}, by, job));
  answer.summary = Headline(comparability, result);
  answer.facts = {{"primary", primary->id()},
                  {"comparison", comparison->id()},
                  {"comparability",
                   {{"verdict", comparability.verdict},
                    {"score", comparability.score},
                    {"reasons", comparability.reasons}}},
                  {"primary_times", TimesOf(*primary)},
                  {"comparison_times", TimesOf(*comparison)}};
  AddRows(result, by, arguments, by != GroupBy::kKernel && platform.platform && other.platform,
          &answer);
  if (result.per_step) {
    answer.notes.push_back(
        fmt::format("the traces have {} and {} steps: times and calls of rows are those of all GPU "
                    "work divided by the steps",
                    primary->steps().size(), comparison->steps().size()));
  } else if (primary->steps().empty() != comparison->steps().empty()) {
    answer.notes.emplace_back("only one trace marks steps: times are of the whole traces");
  }
  answer.notes.push_back(PlatformNote(platform, other, result.same_device));
  answer.notes.emplace_back(
      "unexpected_ms = primary_ms - expected * comparison_ms, as expected within 15 %; rows by it, "
      "unknown ones by the difference; small kernels may follow neither roof");
  JV_TRY(AddFiles(workspace, arguments, job, &answer));
  answer.next = {{"ops_summary",
                  {{"trace", primary->id()}, {"by", by_name}},
                  "row ids of the primary's rows, for parent_chain"}};
  return answer;
}

}  // namespace jarvis::tools
