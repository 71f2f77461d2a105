// The reference's reading of a trace for a report, put together from the parts in this folder.
#pragma once

#include <span>

#include "analysis/tables/report_reading.h"
#include "compat/tracelens_capture.h"
#include "trace/event_store.h"

namespace jarvis::compat {

// `events` and the models of the options must outlive the result. `captures`: of its graphs; only
// the report about inference asks for them.
analysis::ReportReading TraceLensReading(const trace::EventStore& events,
                                         const analysis::ReadingOptions& options,
                                         std::span<const TraceLensCapture> captures);

}  // namespace jarvis::compat
