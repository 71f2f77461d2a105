// Tables of what stands beside computing, and of what the figures are held against.
#pragma once

#include <cstddef>
#include <string>

#include "documents/report.h"

namespace jarvis::documents {

std::string HardwareTable(const ReportSources& sources);
// Field, value, certainty, evidence of what the trace is of.
std::string WorkloadTable(const findings::Analysis& analysis);
std::string IdleTables(const findings::Analysis& analysis);
std::string MultiKernelTables(const findings::Analysis& analysis);
std::string FusionTables(const findings::Analysis& analysis, std::size_t candidates_max);

}  // namespace jarvis::documents
