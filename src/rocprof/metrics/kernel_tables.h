// Kernels, agents and statistics of a capture as tables.
#pragma once

#include <string>
#include <vector>

#include "rocprof/metrics/kernel_rows.h"
#include "table/table.h"

namespace jarvis::rocprof {

// Kernels with a column for everything.
Table KernelTable(const std::vector<KernelRow>& rows, const std::string& name,
                  const GroupOptions& options);

// GPUs and CPUs of the processes.
Table AgentTable(const Capture& capture);
// Statistics files: timing alone.
Table StatsTable(const Capture& capture);

}  // namespace jarvis::rocprof
