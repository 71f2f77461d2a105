// The reference's comparison of reports (TraceLens_compare_perf_reports_pytorch), quirks included.
#pragma once

#include "analysis/join/compare_sheets.h"

namespace jarvis::compat {

analysis::CompareRules TraceLensCompareRules();

}  // namespace jarvis::compat
