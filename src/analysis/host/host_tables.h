// What was measured of the host as tables. Times are milliseconds but for columns that end in _us;
// shares name their base in the column: `percent` is of HostTime::base, `percent_of_step` of steps.
#pragma once

#include "analysis/host/host_summary.h"
#include "table/table.h"

namespace jarvis::analysis {

// name, self_ms, percent, count, median_us, total_ms, ms_per_step, thread, waits, code
Table HostTimeTable(const HostSummary& summary, HostRowKind kind);
// call, op, code, range, ms, percent, count, per_step, median_us, max_ms, waits_for, work,
// work_percent, gpu_ms, copy_ms, foreign_ms, unrecorded_ms, found_done
Table SynchronisationsTable(const HostSummary& summary);
// before, after, range, ms, percent, count, per_step, median_ms, max_ms, period_ms, gpu_busy_ms,
// meanwhile (what other threads did), meanwhile_ms,
// frame, frame_ms, code
Table HostStretchesTable(const HostSummary& summary);
// thread, role, span_ms, work_ms, percent, ops_ms, calls_ms, gpu_wait_ms, foreign_wait_ms,
// python_ms, pause_ms, loader_ms, backward_ms, launches, to_next_us, work_us, lead_us, idle_percent
Table HostThreadsTable(const HostSummary& summary);
// The steps but for the odd ones; all where all are odd.
std::vector<StepThreads> SteadySteps(const HostSummary& summary);
// part, ms (mean of SteadySteps), percent_of_step, min_ms, max_ms, critical_in (steps); every
// moment of a step is in one part, so that shares add up to 100.
Table StepPartsTable(const HostSummary& summary);
// One row a step: step (number in time), start_ms (from the first), ms, longest_part, the parts in
// ms, launches, to_next_us, lead_us, idle_percent.
Table HostStepsTable(const HostSummary& summary);

}  // namespace jarvis::analysis
