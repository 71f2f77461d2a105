#include "tools/shared/front_text.h"

#include "documents/front.h"
#include "tools/shared/report_files.h"

namespace jarvis::tools {

Result<std::string> FrontText(session::Workspace& workspace, const Json& arguments,
                              const documents::TerminalLook& look, Job& job) {
  JV_ASSIGN(const ReportCase one, OpenReportCase(workspace, arguments, job));
  return documents::FrontText(documents::FrontOf(*one.analysis, one.edits), look);
}

}  // namespace jarvis::tools
