// The documents of an analysis on the disk: reports, findings with their machine twins, chart and
// log. Numbers and ranking are made anew each time; what agents wrote is read from the twins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "documents/report.h"
#include "documents/validate.h"
#include "findings/one/choices.h"
#include "session/workspace.h"
#include "tools/shared/answer.h"
#include "tools/shared/arguments.h"
#include "tools/shared/call_log.h"
#include "tools/shared/category_choice.h"
#include "tools/shared/platform_choice.h"

namespace jarvis::tools {

// A trace with its analysis and the directory of its files.
struct ReportCase {
  TracePtr trace;
  PlatformChoice platform;
  std::string platform_wanted;  // as given, now or when the files were written; empty: the device
  std::string extension;        // likewise; empty: none
  std::shared_ptr<const findings::Analysis> analysis;
  std::string folder;                      // absolute
  documents::TextEdits edits;              // from the twins
  std::vector<std::string> dropped_edits;  // that belong to no finding of this analysis
  std::vector<documents::CallRecord> log;  // from the directory
  Json workload;                           // corrections: values by WorkloadKey
  findings::FindingChoices choices;        // dismissed, put first, added, worked out
  std::shared_ptr<const findings::Analysis> uncorrected;

  // `calls` empty: those of the log. `reports`: which of the three there are.
  documents::ReportSources Sources(std::vector<documents::CallRecord> calls,
                                   std::vector<std::string> reports) const;
};

// The analysis with the corrections of the workload and the choices of findings that the directory
// has; the same one if it has none for this trace. Arguments trace, platform and extension. Errors:
// kCancelled.
Result<std::shared_ptr<const findings::Analysis>> CorrectedAnalysis(session::Workspace& workspace,
                                                                    const AnalysisCase& one,
                                                                    const Json& arguments,
                                                                    const std::string& folder,
                                                                    Job& job);
// Adds corrections of the workload: values by WorkloadKey. An empty one takes back what was given.
Status SetWorkload(const Json& corrections, ReportCase* one, Job& job);
// Replaces what was chosen; changes and figures of it are read already (chosen_findings.h).
Status SetChoices(findings::FindingChoices choices, ReportCase* one, Job& job);

// Arguments trace, platform, extension, output_dir. Without `platform` or `extension` it is the one
// that the directory's files were made with.
Result<ReportCase> OpenReportCase(session::Workspace& workspace, const Json& arguments, Job& job);

// For a tool that has an analysis and has written other files of it to `folder` (which is closed
// again): documents as drafts, so that there are reports whatever is asked next. Reports that are
// there are written anew, all three if there is none.
Status WriteDrafts(session::Workspace& workspace, AnalysisCase analysed, const Json& arguments,
                   const std::string& folder, Job& job);

struct Document {
  documents::DocumentKind kind;
  std::string file;  // relative
  std::string text;
};
// All documents but those of `reports` that are not wanted; `reports`: "fair", "rough", "analysis".
std::vector<Document> Documents(const ReportCase& one, const documents::ReportSources& sources,
                                const std::vector<std::string>& reports);

// Documents with what is needed to check them.
struct RenderedDocuments {
  std::vector<Document> documents;
  // What prose in them may cite, if it follows from them alone; else see EvidenceOf().
  std::optional<documents::Evidence> evidence;
};
struct WrittenReports {
  std::vector<FileLink> links;
  RenderedDocuments rendered;  // as they were written
};
// Writes documents, twins, chart and log. `calls` empty: the log that is there stays.
Result<WrittenReports> WriteReports(session::Workspace& workspace, const ReportCase& one,
                                    const std::vector<std::string>& reports,
                                    const std::vector<documents::CallRecord>& calls, bool overwrite,
                                    Job& job);

// What prose may cite: the figures of all documents' tables.
documents::Evidence EvidenceOf(const ReportCase& one);
// Every document that is there, held against what the server would write; those that must be there
// and are not are faults too. `calls`: as they were written with. `written`: the documents, if they
// were written just now; else empty. `checked`: how many were read.
Result<std::vector<documents::Fault>> ValidateReports(
    const ReportCase& one, const std::vector<documents::CallRecord>& calls,
    RenderedDocuments written, std::size_t* checked, Job& job);

// The reports among "fair", "rough", "analysis" that the directory has.
std::vector<std::string> ReportsThere(const std::string& folder);

}  // namespace jarvis::tools
