// Where each finding stands in the written files, and the numbers that a report may cite.
#pragma once

#include "findings/one/analysis.h"

namespace jarvis::findings {

// Fills source and evidence of every finding. The files:
//   category_data/<cat>_metrics.json, cpu_idle_metrics.json, multi_kernel_metrics.json,
//   kernel_fusion_metrics.json
// each finding at /category_findings/<rank - 1>, its evidence under "evidence" by key.
void PlaceFindings(Analysis* analysis);

}  // namespace jarvis::findings
