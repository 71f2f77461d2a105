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
Json WorkloadJson(const findings::Workload& workload);                 // metadata/model_info.json
Json QualityJson(const findings::Analysis& analysis);           // metadata/trace_quality.json
Json PriorityJson(const findings::Analysis& analysis);          // priority_data.json
Json KernelCandidatesJson(const findings::Analysis& analysis);  // kernel_candidates.json

}  // namespace jarvis::formats
