#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "analysis/ranks/collective_report.h"
#include "analysis/ranks/collective_summaries.h"
#include "analysis/ranks/collective_sync.h"
#include "analysis/ranks/fleet_tables.h"
#include "analysis/ranks/shared_loss.h"
#include "base/parallel.h"
#include "documents/markdown_text.h"
#include "output/csv_writer.h"
#include "output/number_format.h"
#include "page/page_files.h"
#include "page/ranks_page.h"
#include "session/collective_rules.h"
#include "tools/ranks/fleet_words.h"
#include "tools/ranks/job_figures.h"
#include "tools/ranks/rank_report.h"
#include "tools/ranks/rank_rows.h"
#include "tools/ranks/rank_tools.h"
#include "tools/ranks/rank_words.h"
#include "tools/shared/answer_picture.h"
#include "tools/shared/arguments.h"
#include "tools/shared/rank_files.h"
#include "tools/shared/table_files.h"

namespace jarvis::tools {
namespace {

using analysis::CollectiveReport;
using analysis::RankSet;

constexpr const char* kBook = "nccl_analysis_report.xlsx";
constexpr const char* kFairReport = "ranks_analysis_fair.md";
constexpr std::size_t kStragglersMax = 5;
// Of so many ranks the table shows a few, so that none is slow is said as well.
constexpr std::size_t kManyRanks = 16;

analysis::CollectiveReportOptions OptionsOf(const Json& arguments) {
  analysis::CollectiveReportOptions options;
  if (arguments.contains("agg_metrics"))
    options.aggregations = arguments.at("agg_metrics").get<std::vector<std::string>>();
  if (arguments.contains("gpus_per_node"))
    options.gpus_per_node = arguments.at("gpus_per_node").get<std::int64_t>();
  options.heatmap = arguments.at("heatmap").get<bool>();
  return options;
}

Json CellJson(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return output::Rounded(*number);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  return nullptr;
}

const Table* Find(const std::vector<Table>& tables, std::string_view name) {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const Table& t) { return t.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

// Who comes last, the worst first.
Json Stragglers(const CollectiveReport& report) {
  Json list = Json::array();
  const Table* table = Find(report.tables, "straggler_summary");
  if (table == nullptr) return list;
  for (const auto& row : table->rows) {
    if (list.size() == kStragglersMax) break;
    list.push_back({{"rank", CellJson(row[0])},
                    {"wait_us", CellJson(row[1])},
                    {"arrived_last", CellJson(row[3])},
                    {"arrived_last_percent", CellJson(row[5])}});
  }
  return list;
}

// Sends with their receives.
std::size_t Pairs(const analysis::JointTimeline* joint) {
  if (joint == nullptr) return 0;
  return static_cast<std::size_t>(
      std::count_if(joint->collectives.begin(), joint->collectives.end(),
                    [](const analysis::JointCollective& one) {
                      return one.family == analysis::CommFamily::kPointToPoint;
                    }));
}

// `joint`: null by the rule of the reference.
Json Facts(const RankSet& set, const CollectiveReport& report,
           const analysis::JointTimeline* joint) {
  Json facts = Json::object();
  facts["ranks"] = set.ranks.size();
  facts["world_size"] = set.world_size ? Json(*set.world_size) : Json(nullptr);
  facts["missing_ranks"] = analysis::RankList(set.missing);
  const bool whole = std::all_of(set.ranks.begin(), set.ranks.end(),
                                 [](const auto& digest) { return digest.damage.empty(); });
  facts["complete"] = set.missing.empty() && whole;
  facts["collective_kernels"] = report.matching.calls.size();
  const auto pairs = Pairs(joint);
  facts["collectives"] = joint == nullptr || set.ranks.size() < 2
                             ? report.matching.collectives.size()
                             : joint->collectives.size() - pairs;
  if (pairs > 0) facts["sends_with_receives"] = pairs;
  facts["unmatched_kernels"] = report.matching.unmatched;
  return facts;
}

// `with_waits`: with the share of waiting by the tables.
std::string Headline(const RankSet& set, const CollectiveReport& report, bool with_waits) {
  const std::string ranks = set.world_size
                                ? fmt::format("{} of {} ranks", set.ranks.size(), *set.world_size)
                                : fmt::format("{} ranks", set.ranks.size());
  if (report.matching.calls.empty()) return ranks + ": no communication kernel in any of them.";
  std::string text = fmt::format("{}: {} communication kernels in {} collectives", ranks,
                                 report.matching.calls.size(), report.matching.collectives.size());
  double wait = 0;
  double all = 0;
  for (const analysis::SyncedCollective& one : report.synced) {
    for (const auto& rank : one.ranks) {
      if (!rank.wait) continue;  // not all ranks that must meet have it
      wait += std::min(*rank.wait, report.matching.calls[rank.call].time.dur);
      all += report.matching.calls[rank.call].time.dur;
    }
  }
  if (with_waits && all > 0 && set.ranks.size() > 1) {
    text += fmt::format(
        "; {:.1f} % of the time in those that synchronise is waiting for the last "
        "rank",
        100 * wait / all);
  }
  return text + ".";
}

// The kinds of collectives, the longest first, with what was recorded of them.
void AddKinds(const CollectiveReport& report, const analysis::TableRules& rules, Answer* answer) {
  const Table table = analysis::NcclSummaryImplicitSync(
      report.matching, report.synced, {.aggregations = {"mean"}, .gpus_per_node = {}}, rules);
  const std::pair<const char*, const char*> columns[] = {
      {"Collective name", "collective"},
      {"dtype", "dtype"},
      {"Process Group Name", "group"},
      {"Full msg size (MB)", "MB"},
      {"count", "count"},
      {"comm_latency_mean", "latency_us"},
      {"skew in start time_mean", "start_skew_us"},
      {"algo bw (GB/s)_mean", "algo_GB_s"},
      {"bus bw (GB/s)_mean", "bus_GB_s"},
      {"Total comm latency (ms)", "total_ms"}};
  std::vector<std::size_t> places;
  for (const auto& [name, shown] : columns) {
    answer->columns.emplace_back(shown);
    places.push_back(static_cast<std::size_t>(
        std::find(table.columns.begin(), table.columns.end(), name) - table.columns.begin()));
  }
  for (const auto& row : table.rows) {
    std::vector<Cell> cells;
    for (const std::size_t place : places)
      cells.push_back(place < row.size() ? row[place] : Cell());
    answer->rows.push_back(std::move(cells));
  }
  answer->total = answer->rows.size();
}

// nccl_long in pieces, some of them made at once beside each other.
void AddLongText(const RankSet& set, const CollectiveReport& report,
                 const analysis::CollectiveReportOptions& options,
                 const analysis::TableRules& rules, const io::AddText& add) {
  constexpr std::size_t kPiece = 2'048;
  constexpr std::size_t kAtOnce = 8;
  const std::size_t pieces = (report.matching.calls.size() + kPiece - 1) / kPiece;
  for (std::size_t first = 0; first < pieces; first += kAtOnce) {
    std::vector<std::string> made(std::min(kAtOnce, pieces - first));
    ParallelFor(made.size(), 0, [&](std::size_t i) {
      const std::size_t piece = first + i;
      const Table rows = analysis::LongRows(set, report, options, rules, piece * kPiece, kPiece);
      if (piece == 0) {
        made[i] = output::ToCsv(rows);
      } else {
        output::AppendCsvRows(rows, output::CsvFormulas::kQuoted, &made[i]);
      }
    });
    for (const std::string& one : made)
      add(one);
  }
}

// The table of all calls where it is too long to be held.
std::vector<LongTable> LongTables(const RankSet& set, const CollectiveReport& report,
                                  const analysis::CollectiveReportOptions& options,
                                  const analysis::TableRules& rules) {
  if (!report.long_apart) return {};
  return {{"nccl_long", report.matching.calls.size(),
           [&](const io::AddText& add) { AddLongText(set, report, options, rules, add); }}};
}

// The same as members, without what is not known.
Json KindsJson(const CollectiveReport& report, const analysis::TableRules& rules) {
  constexpr std::size_t kKindsMax = 8;
  Answer kinds;
  AddKinds(report, rules, &kinds);
  Json list = Json::array();
  for (const auto& row : kinds.rows) {
    if (list.size() == kKindsMax) break;
    Json one = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] == Cell()) continue;
      const std::string& column = kinds.columns[i];
      const auto* text = std::get_if<std::string>(&row[i]);
      const auto* number = std::get_if<double>(&row[i]);
      // Sizes in the unit of reports, 1e6 bytes; rates are means, which reports do not show.
      if (column == "MB" && number != nullptr) {
        one[column] = output::Rounded(*number * 1.048576);
      } else if (column.ends_with("_GB_s")) {
        one["mean_" + column] = CellJson(row[i]);
      } else {
        one[column] = text != nullptr ? Json(*text) : CellJson(row[i]);
      }
    }
    list.push_back(std::move(one));
  }
  return list;
}

// By rank where ranks are judged, else by kind of collective.
std::string PictureOfRanks(const Answer& answer, bool by_rank) {
  if (!by_rank) {
    return DrawBars(
        {.title = "Time of communication by collective",
         .subtitle = answer.summary,
         .axis = "ms",
         .bars = BarsOf(answer, {{"collective", "dtype", "group"}, {{"total_ms", ""}}})});
  }
  output::BarChart bars =
      BarsOf(answer, {{"rank", "role"},
                      {{"wait_ms", "waits for other ranks"},
                       {"bubble_ms", "waits for another stage of the pipeline"},
                       {"transfer_ms", "transfers"},
                       {"unmatched_ms", "communicates with a rank that is not known"}}});
  // Without a match between ranks nobody knows what is waiting.
  if (bars.series.empty())
    bars = BarsOf(answer, {{"rank"}, {{"exposed_comm_ms", "communicates"}, {"idle_ms", "idle"}}});
  for (std::string& group : bars.groups)
    group.insert(0, "rank ");
  return DrawBars({.title = "What each rank's communication is",
                   .subtitle = answer.summary,
                   .axis = "ms",
                   .bars = std::move(bars)});
}

// The counts that the report has: calls are matched by what they do, not by their names.
std::string JointHeadline(const JobView& view) {
  std::int64_t calls = 0;
  std::int64_t alone = 0;
  for (const analysis::RankCommTime& of : view.joint.ranks) {
    calls += of.matched + of.unmatched;
    alone += of.unmatched;
  }
  std::string text = view.set.world_size ? fmt::format("{} of {} ranks", view.set.ranks.size(),
                                                       *view.set.world_size)
                                         : fmt::format("{} ranks", view.set.ranks.size());
  const std::size_t pairs = Pairs(&view.joint);
  const std::size_t collectives = view.joint.collectives.size() - pairs;
  text += ":";
  if (collectives > 0 || pairs == 0) text += fmt::format(" {} collectives", collectives);
  if (pairs > 0)
    text += fmt::format("{} {} sends with their receives", collectives > 0 ? " and" : "", pairs);
  text += fmt::format(" of {} calls", calls);
  return text + (alone > 0 ? fmt::format(", {} of which have no partner.", alone) : ".");
}

// Empty: nothing is judged.
struct Documents {
  std::string fair;
  std::string page;
  std::vector<Table> tables;
};

// A verdict that knows what to change names the ranks itself; where it does not, slow ones come
// before it. Of many ranks that are alike one comes last most often, which says nothing of it.
std::string WithFleet(const FleetView& view, const std::string& verdict) {
  if (!view.job.story.levers.empty()) return verdict;
  if (FindsAny(view.fleet)) return FleetSentence(view) + " " + documents::Capitalised(verdict);
  const std::size_t ranks = view.job.set.ranks.size();
  if (ranks <= kManyRanks) return verdict;
  if (view.fleet.compared < ranks) return verdict + " " + FleetSentence(view);
  return FleetSentence(view) + " " + SharedWaitText(view);
}

// What is made of the digests alone. It stays where it is, as the report refers to the timeline.
struct Looked {
  Result<CollectiveReport> report;
  // Not of the compatible mode, which judges nothing.
  Result<std::optional<RankWorkload>> workload;
  std::string no_workload;  // why there is none; empty: nothing went wrong
  std::optional<analysis::JointTimeline> joint;
  analysis::JobStory story;
};

// All parts at once: the trace of one rank takes as long to look at as all the rest.
void LookAtJob(session::Workspace& workspace, const Json& arguments, const RankSet& set,
               const analysis::TableRules& rules, bool judged, Job& job, Looked* into) {
  Looked& looked = *into;
  const analysis::CollectiveReportOptions options = OptionsOf(arguments);
  if (judged) looked.joint = analysis::JoinCollectives(set);
  const analysis::JointTimeline* joint = judged ? &*looked.joint : nullptr;
  ParallelFor(judged ? 3 : 1, 0, [&](std::size_t part) {
    if (part == 0) {
      looked.report = analysis::MakeCollectiveReport(set, joint, options, rules);
    } else if (part == 1) {
      looked.workload = LookAtOneRank(workspace, arguments, set, job, &looked.no_workload);
    } else {
      looked.story = analysis::TellJob(set, *joint);
    }
  });
}

// Leads with the cause; the rest is what the tables cannot say.
void AddJudgement(const RankSet& set, const Looked& looked,
                  const analysis::CollectiveReportOptions& options,
                  const analysis::TableRules& rules, Documents* documents, Answer* answer) {
  const analysis::JointTimeline& joint = *looked.joint;
  const analysis::JobStory& story = looked.story;
  const RankWorkload* workload = *looked.workload ? &**looked.workload : nullptr;
  if (!looked.no_workload.empty()) answer->notes.push_back(looked.no_workload);
  std::vector<analysis::LoneKind> lone;
  if (set.ranks.size() == 1) lone = analysis::LookAtLoneRank(set.ranks.front());
  const JobView view{set, joint, story, workload};
  std::string verdict = RanksVerdict(view);
  if (!lone.empty()) verdict = LoneVerdict(view, lone);
  answer->facts["verdict"] = VerdictJson(view, verdict);
  if (workload != nullptr && !workload->line.empty()) answer->facts["workload"] = workload->line;
  analysis::FleetFindings fleet = analysis::LookAtFleet(set, joint, options.gpus_per_node);
  analysis::ForgiveSharedLoss(set, story, &fleet);
  const FleetView fleet_view{view, fleet};
  const bool several = set.ranks.size() > 1;
  if (several) {
    answer->facts["fleet"] = FleetJson(fleet_view);
    documents->tables = analysis::FleetTables(set, joint, fleet);
  }
  if (Table ledgers = analysis::RankLedgers(set, joint); !ledgers.rows.empty()) {
    documents->tables.insert(documents->tables.begin(), std::move(ledgers));
  }
  answer->facts["kinds"] = KindsJson(*looked.report, rules);
  AddRankRows(view, answer);
  if (several && !looked.report->matching.calls.empty()) answer->summary = JointHeadline(view);
  if (verdict.empty()) return;
  const std::string head = several ? WithFleet(fleet_view, verdict) : verdict;
  const std::string exposed = ExposedText(view);
  const bool said = !exposed.empty() && head.find(exposed) != std::string::npos;
  const std::string comm = said ? std::string() : documents::Capitalised(CommText(view));
  answer->summary = head + " " + answer->summary + (comm.empty() ? "" : " " + comm + ".");
  documents->fair =
      RanksReport(view, verdict, lone, workload, several ? FleetSection(fleet_view) : "");
  documents->page = page::RenderRanksPage(documents->fair, set, joint);
}

}  // namespace

Result<Answer> Collectives(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const std::string directory, OutputDirectory(workspace, arguments, "collectives"));
  JV_ASSIGN(session::RankDigests read, DigestsOf(workspace, arguments, job));
  RankSet set = analysis::ResolveRanks(std::move(read.digests));
  set.warnings.insert(set.warnings.end(), read.warnings.begin(), read.warnings.end());
  const bool compatible = arguments.at("compat").get<std::string>() == "tracelens";
  const analysis::TableRules rules = session::CollectiveRulesFor(
      compatible ? session::Compat::kTraceLens : session::Compat::kNone);
  const analysis::CollectiveReportOptions options = OptionsOf(arguments);
  Looked looked;
  LookAtJob(workspace, arguments, set, rules, !compatible, job, &looked);
  if (!looked.report) return tl::make_unexpected(std::move(looked.report.error()));
  if (!looked.workload) return tl::make_unexpected(std::move(looked.workload.error()));
  CollectiveReport& report = *looked.report;
  JV_TRY(job.Check());
  Answer answer;
  answer.summary = Headline(set, report, compatible);
  answer.facts = Facts(set, report, looked.joint ? &*looked.joint : nullptr);
  Documents documents;
  if (compatible) {
    answer.facts["stragglers"] = Stragglers(report);
    AddKinds(report, rules, &answer);
  } else {
    AddJudgement(set, looked, options, rules, &documents, &answer);
  }
  std::move(documents.tables.begin(), documents.tables.end(), std::back_inserter(report.tables));
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
  std::vector<std::string> names = {kBook};
  for (const Table& table : report.tables)
    names.push_back(table.name + ".csv");
  const std::vector<LongTable> long_tables = LongTables(set, report, options, rules);
  for (const LongTable& table : long_tables)
    names.push_back(table.name + ".csv");
  if (!documents.fair.empty()) {
    names.emplace_back(kFairReport);
    names.emplace_back(page::kRanksPageFile);
  }
  JV_TRY(folder->Claim(names, MayOverwrite(arguments)));
  if (!documents.fair.empty()) {
    JV_ASSIGN(std::string path, folder->Write(kFairReport, documents.fair));
    answer.files.push_back({std::move(path), "what the ranks wait for, and what to do", 0});
    JV_ASSIGN(std::string page, folder->Write(std::string(page::kRanksPageFile), documents.page));
    answer.files.push_back({std::move(page), "the same as a page, with when each rank waits", 0});
  }
  JV_TRY(WriteTables(report.tables, *folder, *folder, kBook, &answer, output::CsvFormulas::kQuoted,
                     long_tables));
  JV_TRY(folder->Commit());
  AddRankNotes(report.warnings, &answer);
  if (read.merged_files > 0) {
    answer.notes.push_back(fmt::format(
        "{} files hold several ranks, told apart by process or device", read.merged_files));
  }
  if (compatible) {
    answer.notes.emplace_back(
        "compat=tracelens reproduces the reference's numbers with its quirks: collectives whose "
        "kernels carry no args have no metadata");
  }
  if (WantsPicture(arguments)) answer.picture = PictureOfRanks(answer, !compatible);
  return answer;
}

}  // namespace jarvis::tools
