#include "tools/compare/compare_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/ranks/collective_report.h"
#include "analysis/ranks/fleet_tables.h"
#include "analysis/ranks/rank_ledger.h"
#include "analysis/ranks/shared_loss.h"
#include "formats/digest_file.h"
#include "io/text_file.h"
#include "output/csv_writer.h"
#include "session/collective_rules.h"
#include "table/csv_reader.h"
#include "tools/shared/rank_files.h"

namespace jarvis::tools {
namespace {

bool IsDigestFile(const io::FilePolicy& files, const std::string& given) {
  constexpr std::size_t kStart = 256;
  const auto start = io::ReadStart(files, given, kStart);
  return start && formats::IsDigest(*start);
}

Result<session::ReportSource> SourceOfRanks(const session::Workspace& workspace,
                                            const std::string& given, Job& job) {
  JV_ASSIGN(session::RankDigests read,
            DigestsOf(workspace, {{"traces", Json::array({given})}}, job));
  const analysis::RankSet set = analysis::ResolveRanks(std::move(read.digests));
  analysis::CollectiveReportOptions options;
  options.heatmap = false;
  const analysis::JointTimeline joint = analysis::JoinCollectives(set);
  JV_ASSIGN(analysis::CollectiveReport report,
            analysis::MakeCollectiveReport(set, &joint, options,
                                           session::CollectiveRulesFor(session::Compat::kNone)));
  report.tables.push_back(analysis::RankLedgers(set, joint));
  analysis::FleetFindings fleet = analysis::LookAtFleet(set, joint, {});
  analysis::ForgiveSharedLoss(set, analysis::TellJob(set, joint), &fleet);
  std::vector<Table> tables = analysis::FleetTables(set, joint, fleet);
  std::move(tables.begin(), tables.end(), std::back_inserter(report.tables));
  session::ReportSource source;
  JV_ASSIGN(source.path, workspace.files().ResolveInput(given));
  // As they are read from files, where a group named "0" is a number: they may meet such.
  for (const Table& table : report.tables) {
    JV_ASSIGN(Table read_back,
              ParseCsv(table.name, output::ToCsv(table, output::CsvFormulas::kAsIs)));
    source.tables.push_back(std::move(read_back));
  }
  return source;
}

}  // namespace

Result<session::ReportSource> OpenSource(session::Workspace& workspace, const std::string& given,
                                         Job& job) {
  const io::FilePolicy& files = workspace.files();
  const session::SourceKind kind = session::KindOf(files, given);
  if (kind == session::SourceKind::kTrace) {
    if (IsDigestFile(files, given)) return SourceOfRanks(workspace, given, job);
    session::ReportSource source;
    JV_ASSIGN(source.trace, OpenTrace(workspace, {{"trace", given}}, job));
    source.path = source.trace->path();
    return source;
  }
  auto report = session::ReadReport(files, given, kind, job);
  if (report || kind != session::SourceKind::kFolder) return report;
  // A directory without tables may have ranks in it; if it has neither, tables were meant.
  const auto ranks = session::FindRankFiles(files, {given}, job);
  return ranks && !ranks->empty() ? SourceOfRanks(workspace, given, job) : report;
}

bool AreTraceFiles(const io::FilePolicy& files, const std::vector<std::string>& given) {
  return std::all_of(given.begin(), given.end(), [&](const std::string& path) {
    return session::KindOf(files, path) == session::SourceKind::kTrace &&
           !IsDigestFile(files, path);
  });
}

}  // namespace jarvis::tools
