// Idle time, communication, copies and fusion as JSON: the files of the system findings.
#pragma once

#include "findings/one/analysis.h"
#include "json/json.h"

namespace jarvis::formats {

Json IdleMetricsJson(const findings::Analysis& analysis);              // cpu_idle_metrics.json
Json IdleGapsJson(const findings::IdleAnalysis& idle);                 // idle_gaps.json
Json MultiKernelDataJson(const findings::MultiKernelAnalysis& multi);  // multi_kernel_data.json
Json MultiKernelMetricsJson(const findings::Analysis& analysis);       // multi_kernel_metrics.json
Json FusionCandidatesJson(const findings::FusionAnalysis& fusion);     // fusion_candidates.json
// cpu_steps.json. REQUIRES: a recording without GPU work.
Json CpuStepsJson(const findings::Analysis& analysis);
Json FusionMetricsJson(const findings::Analysis& analysis);  // kernel_fusion_metrics.json

}  // namespace jarvis::formats
