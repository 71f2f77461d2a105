// The report as one HTML file that stands alone: what the report for stakeholders says, word for
// word, with the step as a bar, the levers before and after, a timeline, an icicle of GPU time, a
// roofline and tables that sort and filter.
#pragma once

#include <memory>
#include <string>

#include "base/job.h"
#include "base/result.h"
#include "documents/report.h"
#include "session/loaded_trace.h"

namespace jarvis::page {

// The analysis of the sources if it is kept with its trace and will be asked for again; null: it is
// one that was made for them alone.
using KeptAnalysis = std::shared_ptr<const findings::Analysis>;

// What the page shows of the trace itself, whatever is written about it.
struct PageViews {
  std::string timeline;  // sections; empty: there is nothing to show
  std::string ops;
  std::string roofline;
  bool has_tree = false;
  std::string json;
};

// `trace` is what `sources.analysis` is of. The same input gives the same bytes. Errors:
// kCancelled.
Result<std::shared_ptr<const PageViews>> ViewsOf(const documents::ReportSources& sources,
                                                 const session::LoadedTrace& trace,
                                                 const KeptAnalysis& kept, const Job& job);

// `views` are of these sources, `fair` is the report for stakeholders of them.
std::string RenderReportPage(const documents::ReportSources& sources, const PageViews& views,
                             const std::string& fair);

}  // namespace jarvis::page
