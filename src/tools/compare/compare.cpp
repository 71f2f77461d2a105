#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "documents/comparative_base.h"
#include "documents/comparative_changes.h"
#include "documents/comparative_levers.h"
#include "documents/comparative_verdict.h"
#include "documents/comparative_words.h"
#include "documents/comparison.h"
#include "findings/one/quality.h"
#include "findings/two/comparability.h"
#include "findings/two/compare_table.h"
#include "output/number_format.h"
#include "page/page_files.h"
#include "table/column_place.h"
#include "tools/compare/compare_source.h"
#include "tools/compare/compare_tools.h"
#include "tools/compare/job_change.h"
#include "tools/compare/pair_page_file.h"
#include "tools/shared/answer_picture.h"
#include "tools/shared/arguments.h"
#include "tools/shared/platform_choice.h"

namespace jarvis::tools {
namespace {

using analysis::GroupBy;
using findings::TraceComparison;

// Parts of a line of the ledger below this are not worth their words.
constexpr double kLeastPartMs = 0.01;

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

// What a unit is made of on one side, and what of the recording is in none.
Json TimesOf(const findings::ComparedPair& pair, int side) {
  Json times = Json::object();
  const findings::Balance& balance = pair.balance;
  if (balance.lines.empty()) return times;
  const analysis::BaseOfTime& base =
      (side == 0 ? pair.primary : pair.comparison)->frames->frames.base;
  times["unit"] = analysis::TimeUnitText(base.unit);
  times["units"] = base.parts();
  const std::pair<const char*, double> values[] = {
      {"unit_ms", balance.ms[side]},
      {"busy_ms", balance.busy_ms[side]},
      {"idle_ms", balance.idle_ms[side]},
      {"exposed_comm_ms", balance.exposed_comm_ms[side]},
      {"one_time_ms", static_cast<double>(base.one_time_ns) / 1e6},
      {"unrecorded_ms", static_cast<double>(base.unrecorded_ns) / 1e6},
      {"left_out_ms", static_cast<double>(base.left_out_ns) / 1e6}};
  for (const auto& [name, ms] : values)
    times[name] = output::Rounded(ms);
  if (base.warm_estimated) times["warm_estimated"] = true;
  times["bound"] = ledger::BoundKindText((side == 0 ? pair.primary : pair.comparison)->bound.kind);
  return times;
}

std::string PlatformNote(const PlatformChoice& primary, const PlatformChoice& comparison,
                         bool same_device) {
  if (same_device) return "the same device: expected is 1";
  if (primary.platform && comparison.platform) {
    return fmt::format(
        "expected: the roofs of the rows' work on {} over those on {}; {} and {} GB/s, and FLOP/s "
        "of the same kind on both (measured, else peak) where arithmetic sets the roof",
        primary.platform->name, comparison.platform->name,
        primary.platform->mem_bw_gbps.value_or(0), comparison.platform->mem_bw_gbps.value_or(0));
  }
  const bool of_primary = !primary.platform;
  return fmt::format(
      "no expected ratios: the {} trace: {}{}", of_primary ? "candidate" : "baseline",
      of_primary ? primary.note : comparison.note, of_primary ? "" : " (baseline_platform)");
}

// The primary and the comparison, in the order of files: the baseline first.
Result<std::vector<session::ReportSource>> SourcesOf(session::Workspace& workspace,
                                                     const Json& arguments, Job& job) {
  std::vector<session::ReportSource> sources;
  for (const char* side : {"baseline", "candidate"}) {
    JV_ASSIGN(session::ReportSource source,
              OpenSource(workspace, arguments.at(side).get<std::string>(), job));
    sources.push_back(std::move(source));
  }
  return sources;
}

// What the difference of a unit is made of: wall lines of both ledgers, the largest change first.
Json LedgerJson(const findings::Balance& balance) {
  Json lines = Json::array();
  constexpr std::size_t kPartsMax = 2;
  for (const findings::BalanceLine& line : balance.lines) {
    Json one = {{"line", line.name},
                {"candidate_ms", output::Rounded(line.ms[0])},
                {"baseline_ms", output::Rounded(line.ms[1])},
                {"delta_ms", output::Rounded(line.difference_ms())}};
    if (line.expected_ms) one["by_hardware_ms"] = output::Rounded(*line.expected_ms);
    if (const std::string mostly = documents::PartsText(balance, line, kPartsMax, kLeastPartMs);
        !mostly.empty())
      one["mostly"] = mostly;
    lines.push_back(std::move(one));
  }
  return lines;
}

// What to do about the primary, with its saving.
Json LeversJson(const documents::ComparativeFacts& facts) {
  constexpr std::size_t kLeversMax = 5;
  Json list = Json::array();
  for (const documents::LeverText& lever : documents::PairLevers(facts)) {
    if (list.size() == kLeversMax) break;
    list.push_back({{"lever", lever.title}, {"impact", lever.impact}});
  }
  return list;
}

Status AddFiles(const session::Workspace& workspace, const Json& arguments,
                std::vector<session::ReportSource> sources, Job& job, Answer* answer) {
  const auto given = TextArgument(arguments, "output_dir");
  if (!given) return {};
  documents::ComparisonRequest request;
  request.reports.sources = std::move(sources);
  request.reports.names = {"baseline", "candidate"};
  JV_ASSIGN(request.place.directory, workspace.files().ResolveOutput(*given));
  // As in all directories of an analysis, whose own tables are in perf_report_csvs.
  request.place.tables_folder = "comparison_csvs";
  request.overwrite = MayOverwrite(arguments);
  JV_ASSIGN(const documents::WrittenComparison written,
            documents::WriteComparisonOf(workspace.files(), request, job));
  // What is read first; the others lie beside them.
  static const std::set<std::string_view> kFirst = {"comparative_analysis_fair.md",
                                                    "comparative_analysis_rough.md",
                                                    "workbook",
                                                    "gpu_timeline",
                                                    "ops_summary",
                                                    "compare_by_op"};
  for (const documents::WrittenFile& file : written.files) {
    if (kFirst.contains(file.what)) answer->files.push_back({file.path, file.what, file.rows});
  }
  answer->notes.push_back(
      fmt::format("{} tables in {}/{}; differences in them are candidate minus baseline",
                  written.tables, request.place.directory, request.place.tables_folder));
  for (const std::string& note : written.notes)
    answer->notes.push_back(note);
  return {};
}

// The comparison as a page and, beside it, the reports that it shows. The page comes first: what it
// is made of is not kept beside the tables of two large reports.
Status AddPageAndFiles(const session::Workspace& workspace, const Json& arguments,
                       const documents::ComparativeSide& candidate,
                       const documents::ComparativeSide& baseline,
                       std::vector<session::ReportSource> sources, Job& job, Answer* answer) {
  const auto given = TextArgument(arguments, "output_dir");
  if (!given) return {};
  JV_ASSIGN(std::string page, WritePairPage(workspace.files(), *given, candidate, baseline,
                                            MayOverwrite(arguments), job));
  JV_TRY(AddFiles(workspace, arguments, std::move(sources), job, answer));
  answer->files.push_back({std::move(page), std::string(page::kPairPageFile), 0});
  return {};
}

bool HasTimeline(const session::ReportSource& source) {
  return std::any_of(source.tables.begin(), source.tables.end(),
                     [](const Table& table) { return table.name == "gpu_timeline"; });
}

// Reports without their traces: the timelines side by side, of jobs their collectives, and the
// files.
Result<Answer> CompareTables(const session::Workspace& workspace, const Json& arguments,
                             std::vector<session::ReportSource> sources, Job& job) {
  session::CompareRequest request;
  request.sources = sources;
  request.names = {"baseline", "candidate"};
  const bool of_jobs = !HasTimeline(sources[0]) && !HasTimeline(sources[1]);
  request.sheets = {of_jobs ? "collectives" : "gpu_timeline"};
  JV_ASSIGN(const session::ReportComparison comparison, session::CompareReports(request, job));
  Answer answer;
  answer.summary =
      "Reports without their traces: how comparable the runs are, and what the devices explain, is "
      "known from traces only.";
  if (of_jobs) {
    const std::string change = JobChange(sources[1].tables, sources[0].tables);
    if (!change.empty()) answer.summary = change + " " + answer.summary;
  }
  answer.notes = comparison.notes;
  if (!comparison.tables.empty()) {
    const Table& table = comparison.tables.front();
    answer.columns = table.columns;
    answer.rows = table.rows;
    answer.total = table.rows.size();
  }
  JV_TRY(AddFiles(workspace, arguments, std::move(sources), job, &answer));
  if (answer.files.empty()) {
    answer.notes.emplace_back("pass output_dir for every table of both reports");
  }
  return answer;
}

void AddRows(Table table, GroupBy by, std::uint64_t limit, Answer* answer) {
  // The last ones are for the files.
  constexpr std::size_t kForFiles = 4;
  const std::size_t name = PlaceOf(table.columns, findings::CompareName(by));
  const bool shapes = by == GroupBy::kOp;
  const std::size_t place_of_shape = shapes ? PlaceOf(table.columns, "shape") : 0;
  const std::size_t columns = table.columns.size() - kForFiles;
  table.columns.resize(columns);
  answer->columns = std::move(table.columns);
  answer->total = table.rows.size();
  // Beside those that always stand first.
  const std::uint64_t end =
      std::min(answer->total, answer->offset + limit + findings::kUnmatchedRows);
  for (std::uint64_t r = answer->offset; r < end; ++r) {
    std::vector<Cell>& row = table.rows[r];
    row.resize(columns);
    if (r >= findings::kUnmatchedRows) row[name] = ShortName(std::get<std::string>(row[name]), by);
    auto* shape = shapes ? std::get_if<std::string>(&row[place_of_shape]) : nullptr;
    if (shape != nullptr) *shape = findings::ShortShape(std::move(*shape));
    answer->rows.push_back(std::move(row));
  }
}

// What each row takes more or less than in the comparison, from the most on; work of one side alone
// counts whole.
std::string PictureOfChanges(const Answer& answer, GroupBy by) {
  const std::string_view name = findings::CompareName(by);
  const output::BarChart sides =
      BarsOf(answer, {{name, "shape"}, {{"candidate_ms", ""}, {"baseline_ms", ""}}});
  std::vector<std::pair<double, std::string>> changes;
  for (std::size_t i = 0; i < sides.groups.size(); ++i) {
    const double ms = sides.series[0].y[i].value_or(0) - sides.series[1].y[i].value_or(0);
    if (ms != 0) changes.emplace_back(ms, sides.groups[i]);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  output::BarChart bars{.groups = {}, .series = {{}}, .horizontal = true};
  bars.by_sign = true;
  for (auto& [ms, group] : changes) {
    bars.groups.push_back(std::move(group));
    bars.series[0].y.emplace_back(ms);
  }
  return DrawBars(
      {.title = fmt::format("What takes more and less GPU time than in the baseline, by {}", name),
       .subtitle = answer.summary,
       .axis = "candidate minus baseline, ms",
       .bars = std::move(bars)});
}

// What bears on the totals of either side, in a few words; load_trace has them whole.
void AddQuality(const session::LoadedTrace& primary, const session::LoadedTrace& comparison,
                Answer* answer) {
  constexpr double kLeastPercent = 1;
  std::string text;
  for (const auto& [side, trace] :
       {std::pair("candidate", &primary), std::pair("baseline", &comparison)}) {
    // Nobody can stop this one, so that it cannot fail.
    for (const findings::Quality& item : *findings::QualityOf(*trace, Job()).value()) {
      if (item.gpu_percent.value_or(0) < kLeastPercent) continue;
      text += fmt::format("{}{}: {} {:.1f} % of GPU time", text.empty() ? "" : ", ", side,
                          item.code, *item.gpu_percent);
    }
  }
  if (!text.empty()) answer->notes.push_back(text);
}

// How times were made comparable, and what expected means.
void AddNotes(const TraceComparison& result, Answer* answer) {
  if (result.units[0] > 1 || result.units[1] > 1) {
    answer->notes.push_back(
        fmt::format("rows are of one unit: GPU time and calls divided by {} and {} units",
                    result.units[0], result.units[1]));
  }
  if (std::any_of(result.rows.begin(), result.rows.end(), [](const findings::CompareRow& row) {
        return row.not_judged == findings::NotJudged::kCommunication;
      })) {
    answer->notes.emplace_back(
        "communication is not judged: one rank does not tell transfer from waiting for others");
  }
}

// What the two are, how comparable, and what each row takes more than in the other. True: they ran
// on the same device.
Result<bool> AddVerdict(const documents::ComparativeSide& candidate,
                        const documents::ComparativeSide& baseline, GroupBy by, std::uint64_t limit,
                        Job& job, Answer* answer) {
  const session::LoadedTrace& primary = candidate.side.trace;
  const session::LoadedTrace& comparison = baseline.side.trace;
  JV_ASSIGN(const documents::ComparativeFacts facts,
            documents::CollectFacts(candidate, baseline, job));
  JV_ASSIGN(const TraceComparison result,
            findings::CompareTraces(candidate.side, baseline.side, by, job));
  answer->summary = documents::PairVerdict(facts);
  if (const std::string split = documents::PairSplit(facts); !split.empty())
    answer->summary += " " + split;
  const findings::Comparability& comparability = facts.comparability();
  answer->facts = {{"candidate", primary.id()},
                   {"baseline", comparison.id()},
                   {"comparability",
                    {{"verdict", comparability.verdict},
                     {"score", comparability.score},
                     {"reasons", comparability.reasons}}},
                   {"candidate_times", TimesOf(facts.pair, 0)},
                   {"baseline_times", TimesOf(facts.pair, 1)}};
  if (const auto unlike = documents::UnlikeBases(facts.pair);
      !unlike.empty() && !facts.pair.balance.lines.empty())
    answer->facts["bases_not_alike"] = unlike;
  if (!facts.differences.empty()) answer->facts["differs"] = facts.differences;
  if (comparability.verdict != "same file") {
    if (const Json lines = LedgerJson(facts.pair.balance); !lines.empty())
      answer->facts["ledger"] = lines;
    if (const auto changes = documents::PairChangeLines(facts); !changes.empty())
      answer->facts["changes"] = changes;
    if (facts.pair.comparable()) answer->facts["levers"] = LeversJson(facts);
  }
  AddRows(findings::CompareTable(result, by), by, limit, answer);
  AddNotes(result, answer);
  return result.same_device;
}

}  // namespace

Result<Answer> Compare(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(std::vector<session::ReportSource> sources, SourcesOf(workspace, arguments, job));
  if (sources[0].trace == nullptr || sources[1].trace == nullptr) {
    return CompareTables(workspace, arguments, std::move(sources), job);
  }
  const TracePtr comparison = sources[0].trace;
  const TracePtr primary = sources[1].trace;
  const std::string wanted[2] = {TextArgument(arguments, "platform").value_or(""),
                                 TextArgument(arguments, "baseline_platform").value_or("")};
  JV_ASSIGN(const PlatformChoice platform,
            ChoosePlatform(workspace.files(), wanted[0], primary.get()));
  JV_ASSIGN(const PlatformChoice other,
            ChoosePlatform(workspace.files(), wanted[1], comparison.get()));
  sources[1].platform = platform.platform;
  sources[0].platform = other.platform;
  const std::string by_name = arguments.at("by").get<std::string>();
  const GroupBy by = GroupByOf(by_name);
  Answer answer;
  answer.cursor_key = fmt::format("compare/{}/{}/{}/{}/{}", primary->id(), comparison->id(),
                                  by_name, wanted[0], wanted[1]);
  if (const auto cursor = TextArgument(arguments, "cursor")) {
    JV_ASSIGN(answer.offset, ReadCursor(answer.cursor_key, *cursor));
  }
  const documents::ComparativeSide candidate{{*primary, platform.platform}, "candidate"};
  const documents::ComparativeSide baseline{{*comparison, other.platform}, "baseline"};
  JV_ASSIGN(const bool same_device,
            AddVerdict(candidate, baseline, by, arguments.at("limit").get<std::uint64_t>(), job,
                       &answer));
  AddQuality(*primary, *comparison, &answer);
  answer.notes.push_back(PlatformNote(platform, other, same_device));
  answer.notes.emplace_back(
      "unexpected_ms = candidate_ms - expected * baseline_ms, as expected within 15 %; 3 µs a "
      "kernel "
      "count as fixed cost, so small ones may come near 1; rows by it, unknown ones by the "
      "difference");
  JV_TRY(
      AddPageAndFiles(workspace, arguments, candidate, baseline, std::move(sources), job, &answer));
  answer.next = {{"ops_summary",
                  {{"trace", primary->id()}, {"by", by_name}},
                  "row ids of the candidate's rows, for parent_chain"}};
  if (WantsPicture(arguments)) answer.picture = PictureOfChanges(answer, by);
  return answer;
}

}  // namespace jarvis::tools
