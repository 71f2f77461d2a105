// An analysis as JSON: the files of the workflow, key by key. Schemas: tools_schema/files/.
#pragma once

#include <string>
#include <vector>

#include "findings/one/analysis.h"
#include "json/json.h"

namespace jarvis::formats {

Json FactsJson(const std::vector<findings::Fact>& facts);  // an object: key to value
Json RangeJson(const std::optional<findings::Range>& range);
Json OperationJson(const findings::Operation& operation);
Json FindingJson(const findings::Finding& finding);
Json CombinedJson(const findings::Combined& combined);

Json CategoryMetricsJson(const findings::CategoryAnalysis& category);  // <cat>_metrics.json
Json IdleMetricsJson(const findings::Analysis& analysis);              // cpu_idle_metrics.json
Json IdleGapsJson(const findings::IdleAnalysis& idle);                 // idle_gaps.json
Json MultiKernelDataJson(const findings::MultiKernelAnalysis& multi);  // multi_kernel_data.json
Json MultiKernelMetricsJson(const findings::Analysis& analysis);       // multi_kernel_metrics.json
Json FusionCandidatesJson(const findings::FusionAnalysis& fusion);     // fusion_candidates.json
Json FusionMetricsJson(const findings::Analysis& analysis);            // kernel_fusion_metrics.json
Json ModelInfoJson(const findings::ModelIdentity& model);              // metadata/model_info.json
Json QualityJson(const findings::Analysis& analysis);           // metadata/trace_quality.json
Json PriorityJson(const findings::Analysis& analysis);          // priority_data.json
Json KernelCandidatesJson(const findings::Analysis& analysis);  // kernel_candidates.json

}  // namespace jarvis::formats
