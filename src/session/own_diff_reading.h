// Our reading of two traces for their alignment: see analysis/align/diff_reading.h.
#pragma once

#include "analysis/align/diff_reading.h"
#include "session/diff_report.h"
#include "session/loaded_trace.h"

namespace jarvis::session {

analysis::DiffReading OwnDiffReading();

// The trace must outlive the result. Its tree has all frames, whether they are asked for or not.
analysis::ReadDiffSide ReadOwnDiffSide(const LoadedTrace& trace, const DiffSideOptions& how,
                                       analysis::DiffNames& names);

}  // namespace jarvis::session
