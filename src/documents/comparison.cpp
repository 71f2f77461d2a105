#include "documents/comparison.h"

#include "documents/comparative_report.h"
#include "findings/two/compare_table.h"

namespace jarvis::documents {
namespace {

using analysis::GroupBy;

bool WantsAll(const session::CompareRequest& request) {
  return request.sheets.empty() || (request.sheets.size() == 1 && request.sheets.front() == "all");
}

// Two traces, and nobody asked for certain sheets.
bool HasPair(const session::CompareRequest& request) {
  return request.sources.size() == 2 && request.sources[0].trace != nullptr &&
         request.sources[1].trace != nullptr && WantsAll(request);
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
  JV_ASSIGN(ComparativeReports reports,
            MakeComparativeReports({primary, tags[1]}, {comparison, tags[0]}, job));
  texts->push_back({"comparative_analysis_fair.md", std::move(reports.fair)});
  texts->push_back({"comparative_analysis_rough.md", std::move(reports.rough)});
  return {};
}

}  // namespace

Result<WrittenComparison> WriteComparisonOf(const io::FilePolicy& files,
                                            const ComparisonRequest& request, Job& job) {
  JV_ASSIGN(session::ReportComparison comparison, session::CompareReports(request.reports, job));
  std::vector<NamedText> texts;
  if (HasPair(request.reports) && comparison.judged) {
    JV_TRY(AddPair(request.reports, comparison.tags, &comparison.tables, &texts, job));
  }
  WrittenComparison written;
  JV_ASSIGN(written.files, WriteComparison(files, request.place, comparison.tables, texts,
                                           request.overwrite, job));
  written.tags = std::move(comparison.tags);
  written.tables = comparison.tables.size();
  written.notes = std::move(comparison.notes);
  return written;
}

}  // namespace jarvis::documents
