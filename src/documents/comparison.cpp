#include "documents/comparison.h"

#include <iterator>
#include <memory>
#include <utility>

#include "documents/comparative_report.h"
#include "findings/two/compare_table.h"
#include "ledger/books/difference.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

using analysis::GroupBy;

bool WantsAll(const session::CompareRequest& request) {
  return request.sheets.empty() || (request.sheets.size() == 1 && request.sheets.front() == "all");
}

// Two traces, nobody asked for certain sheets, and the mode has findings about a pair.
bool HasPair(const session::CompareRequest& request) {
  return session::JudgesPairs(request.compat) && request.sources.size() == 2 &&
         request.sources[0].trace != nullptr && request.sources[1].trace != nullptr &&
         WantsAll(request);
}

Status AddPair(const session::CompareRequest& request, const std::vector<std::string>& tags,
               std::vector<Table>* tables, std::vector<NamedText>* texts, Job& job) {
  const findings::CompareSide primary{*request.sources[1].trace, request.sources[1].platform};
  const findings::CompareSide comparison{*request.sources[0].trace, request.sources[0].platform};
  for (const GroupBy by : {GroupBy::kOp, GroupBy::kCategory, GroupBy::kKernel, GroupBy::kModule}) {
    JV_ASSIGN(const findings::TraceComparison result,
              findings::CompareTraces(primary, comparison, by, job));
    tables->push_back(findings::CompareTable(result, by));
  }
  const session::LoadedTrace* traces[2] = {&primary.trace, &comparison.trace};
  std::shared_ptr<const session::TraceFrames> frames[2];
  for (int side = 0; side < 2; ++side) {
    JV_ASSIGN(frames[side], session::FramesOf(*traces[side], job));
  }
  const auto ledger_of = [&](int side) {
    return ledger::LedgerSide{traces[side]->events(), frames[side]->frames.base,
                              frames[side]->books};
  };
  tables->push_back(ledger::DifferenceTable(ledger::DifferenceOf(ledger_of(0), ledger_of(1))));
  JV_ASSIGN(ComparativeReports reports,
            MakeComparativeReports({primary, tags[1]}, {comparison, tags[0]}, job));
  texts->push_back({"comparative_analysis_fair.md", std::move(reports.fair)});
  texts->push_back({"comparative_analysis_rough.md", std::move(reports.rough)});
  return {};
}

}  // namespace

Result<WrittenComparison> WriteComparisonOf(const io::FilePolicy& files,
                                            const ComparisonRequest& request, Job& job) {
  std::vector<NamedText> texts;
  std::vector<Table> of_pair;
  if (HasPair(request.reports)) {
    JV_ASSIGN(const std::vector<std::string> tags, session::TagsOf(request.reports));
    JV_TRY(AddPair(request.reports, tags, &of_pair, &texts, job));
  }
  JV_ASSIGN(session::ReportComparison comparison, session::CompareReports(request.reports, job));
  std::move(of_pair.begin(), of_pair.end(), std::back_inserter(comparison.tables));
  WrittenComparison written;
  JV_ASSIGN(written.files, WriteComparison(files, request.place, comparison.tables, texts,
                                           request.overwrite, job));
  written.tags = std::move(comparison.tags);
  written.tables = comparison.tables.size();
  written.notes = std::move(comparison.notes);
  return written;
}

}  // namespace jarvis::documents
