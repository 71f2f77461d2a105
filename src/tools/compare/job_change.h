// How a step of a job changed between two runs, by the tables of their ranks.
#pragma once

#include <string>
#include <vector>

#include "table/table.h"

namespace jarvis::tools {

// "A step takes 124 ms instead of 110 (13 % more): own time 20.2 instead of 16.8 ms, ...": the
// middle rank's unit by the ledgers; and the kernels that changed most. Empty: neither is in both.
// `primary`, `comparison`: with the tables ledger and fleet_kernels.
std::string JobChange(const std::vector<Table>& primary, const std::vector<Table>& comparison);

}  // namespace jarvis::tools
