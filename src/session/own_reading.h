// Our reading of a trace for a report: see analysis/tables/report_reading.h.
#pragma once

#include "analysis/tables/report_reading.h"
#include "session/loaded_trace.h"

namespace jarvis::session {

// The trace and the models of the options must outlive the result.
analysis::ReportReading OwnReading(const LoadedTrace& trace,
                                   const analysis::ReadingOptions& options);

}  // namespace jarvis::session
