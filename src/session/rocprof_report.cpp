#include "session/rocprof_report.h"

#include "compat/tracelens_rocprof.h"

namespace jarvis::session {

std::vector<Table> RocprofReport(const rocprof::Capture& capture, const rocprof::Process& process,
                                 Compat compat) {
  rocprof::ReportOptions options;
  if (compat == Compat::kTraceLens) options.rules = compat::TraceLensRocprofRules();
  return rocprof::MakeReport(capture, process, options);
}

}  // namespace jarvis::session
