// ledger_base.json: the base of time of a trace's books.
#pragma once

#include "json/json.h"
#include "session/trace_frames.h"

namespace jarvis::formats {

// unit, count, ns and what of the recording is not in it; nanoseconds. The wall lines of ledger.csv
// add up to `ns`.
Json LedgerBaseJson(const session::TraceFrames& frames);

}  // namespace jarvis::formats
