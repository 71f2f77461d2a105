// An analysis as JSON: the files of the workflow, key by key. Schemas: tools_schema/files/.
#pragma once

#include <string>
#include <vector>

#include "tools/answer.h"
#include "workflow/analysis.h"

namespace jarvis::tools {

Json FactsJson(const std::vector<workflow::Fact>& facts);  // an object: key to value
Json RangeJson(const std::optional<workflow::Range>& range);
Json OperationJson(const workflow::Operation& operation);
Json FindingJson(const workflow::Finding& finding);
Json CombinedJson(const workflow::Combined& combined);

Json CategoryMetricsJson(const workflow::CategoryAnalysis& category);  // <cat>_metrics.json
Json IdleMetricsJson(const workflow::Analysis& analysis);              // cpu_idle_metrics.json
Json IdleGapsJson(const workflow::IdleAnalysis& idle);                 // idle_gaps.json
Json MultiKernelDataJson(const workflow::MultiKernelAnalysis& multi);  // multi_kernel_data.json
Json MultiKernelMetricsJson(const workflow::Analysis& analysis);       // multi_kernel_metrics.json
Json FusionCandidatesJson(const workflow::FusionAnalysis& fusion);     // fusion_candidates.json
Json FusionMetricsJson(const workflow::Analysis& analysis);            // kernel_fusion_metrics.json
Json ModelInfoJson(const workflow::ModelIdentity& model);              // metadata/model_info.json
Json QualityJson(const workflow::Analysis& analysis);           // metadata/trace_quality.json
Json PriorityJson(const workflow::Analysis& analysis);          // priority_data.json
Json KernelCandidatesJson(const workflow::Analysis& analysis);  // kernel_candidates.json

}  // namespace jarvis::tools
