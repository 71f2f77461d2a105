// The reference's reading of a trace for a report, put together from the parts in this folder.
#pragma once

#include "analysis/tables/report_reading.h"
#include "trace/event_store.h"

namespace jarvis::compat {

// `events` and the models of the options must outlive the result.
analysis::ReportReading TraceLensReading(const trace::EventStore& events,
                                         const analysis::ReadingOptions& options);

}  // namespace jarvis::compat
