#include "session/rocprof_report.h"

#include "session/mode.h"

namespace jarvis::session {

std::vector<Table> RocprofReport(const rocprof::Capture& capture, const rocprof::Process& process,
                                 Compat compat) {
  rocprof::ReportOptions options;
  options.rules = ModeOf(compat).rocprof_rules();
  return rocprof::MakeReport(capture, process, options);
}

}  // namespace jarvis::session
