// analysis.md and the files of findings: sections, markers and tables that programs look for.
#pragma once

#include <string>
#include <string_view>

#include "documents/report.h"

namespace jarvis::documents {

// The report with impact markers.
std::string RenderAnalysis(const ReportSources& sources);
// category_findings/<key>_findings.md.
std::string RenderCategoryFindings(const ReportSources& sources,
                                   const findings::CategoryAnalysis& category);
// system_findings/<key>_findings.md; key: "cpu_idle", "multi_kernel", "kernel_fusion".
std::string RenderSystemFindings(const ReportSources& sources, std::string_view key);

}  // namespace jarvis::documents
