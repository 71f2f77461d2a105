// The reference's reports about rocprofv3 files (quirk P27): durations outside gpu_timeline are
// nanoseconds under headers that say µs, and µs where they say ms, the limit for short kernels is
// held against them, cumulative shares are added up in the order of names, and the total time is
// the tool's.
#pragma once

#include "rocprof/report/report.h"

namespace jarvis::compat {

rocprof::ReportRules TraceLensRocprofRules();

}  // namespace jarvis::compat
