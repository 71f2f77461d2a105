#include <fmt/format.h>

#include "tools/shared/arguments.h"
#include "tools/shared/report_files.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {

Result<Answer> Validate(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const ReportCase one, OpenReportCase(workspace, arguments, job));
  std::size_t checked = 0;
  JV_ASSIGN(const std::vector<documents::Fault> faults,
            ValidateReports(one, {}, {}, &checked, job));
  Answer answer;
  answer.trace = one.trace->id();
  answer.summary = fmt::format("{} documents checked, {} faults.", checked, faults.size());
  answer.facts = {{"valid", faults.empty()}};
  answer.columns = {"code", "file", "line", "fault", "fix"};
  for (const documents::Fault& fault : faults) {
    answer.rows.push_back({fault.code, fault.file,
                           fault.line > 0 ? Cell(static_cast<std::int64_t>(fault.line)) : Cell(),
                           fault.message, fault.fix});
  }
  answer.total = answer.rows.size();
  if (!faults.empty()) {
    answer.next = {{"render_report",
                    {{"trace", one.trace->id()}, {"output_dir", one.folder}, {"overwrite", true}},
                    "write them again from the analysis"}};
  }
  return answer;
}

}  // namespace jarvis::tools
