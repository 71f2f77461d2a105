#include "tools/compare_source.h"

#include "analysis/collective_report.h"
#include "engine/collective_rules.h"
#include "io/text_file.h"
#include "output/csv_writer.h"
#include "table/csv_reader.h"
#include "tools/digest_file.h"
#include "tools/rank_files.h"

namespace jarvis::tools {
namespace {

bool IsDigestFile(const io::FilePolicy& files, const std::string& given) {
  constexpr std::size_t kStart = 256;
  const auto start = io::ReadStart(files, given, kStart);
  return start && IsDigest(*start);
}

Result<engine::ReportSource> SourceOfRanks(const engine::Workspace& workspace,
                                           const std::string& given, Job& job) {
  JV_ASSIGN(engine::RankDigests read,
            DigestsOf(workspace, {{"traces", Json::array({given})}}, job));
  const analysis::RankSet set = analysis::ResolveRanks(std::move(read.digests));
  analysis::CollectiveReportOptions options;
  options.heatmap = false;
  JV_ASSIGN(const analysis::CollectiveReport report,
            analysis::MakeCollectiveReport(set, options,
                                           engine::CollectiveRulesFor(engine::Compat::kNone)));
  engine::ReportSource source;
  JV_ASSIGN(source.path, workspace.files().ResolveInput(given));
  // As they are read from files, where a group named "0" is a number: they may meet such.
  for (const Table& table : report.tables) {
    JV_ASSIGN(Table read_back, ParseCsv(table.name, output::ToCsv(table)));
    source.tables.push_back(std::move(read_back));
  }
  return source;
}

}  // namespace

Result<engine::ReportSource> OpenSource(engine::Workspace& workspace, const std::string& given,
                                        Job& job) {
  const io::FilePolicy& files = workspace.files();
  const engine::SourceKind kind = engine::KindOf(files, given);
  if (kind == engine::SourceKind::kTrace) {
    if (IsDigestFile(files, given)) return SourceOfRanks(workspace, given, job);
    engine::ReportSource source;
    JV_ASSIGN(source.trace, OpenTrace(workspace, {{"trace", given}}, job));
    source.path = source.trace->path();
    return source;
  }
  auto report = engine::ReadReport(files, given, kind, job);
  if (report || kind != engine::SourceKind::kFolder) return report;
  // A directory without tables may have ranks in it; if it has neither, tables were meant.
  const auto ranks = engine::FindRankFiles(files, {given});
  return ranks && !ranks->empty() ? SourceOfRanks(workspace, given, job) : report;
}

}  // namespace jarvis::tools
