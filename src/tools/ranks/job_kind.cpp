#include "tools/ranks/job_kind.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/engine_switches.h"
#include "tools/ranks/rank_workload.h"
#include "tools/ranks/transfer_paths.h"

namespace jarvis::tools {

using analysis::CommFamily;

bool HasCommKernel(const JobView& job, std::string_view part) {
  return std::any_of(job.set.ranks.begin(), job.set.ranks.end(), [&](const auto& digest) {
    return std::any_of(digest.kinds.begin(), digest.kinds.end(),
                       [&](const auto& kind) { return ContainsNoCase(kind.kernel, part); });
  });
}

bool SpeaksOf(const JobView& job, std::string_view part) {
  return job.workload != nullptr && (ContainsNoCase(job.workload->line, part) ||
                                     ContainsNoCase(job.workload->framework, part));
}

bool HasMark(const JobView& job, std::string_view part) {
  return job.workload != nullptr &&
         std::any_of(job.workload->marks.begin(), job.workload->marks.end(),
                     [&](const std::string& mark) { return ContainsNoCase(mark, part); });
}

std::string EngineSwitch(const JobView& job, EngineFeature feature) {
  for (const findings::EngineSwitches& engine : findings::AllEngineSwitches()) {
    if (SpeaksOf(job, engine.key))
      return fmt::format(
          " ({} {})", engine.name,
          feature == EngineFeature::kTwoBatches ? engine.two_batches : engine.balance_experts);
  }
  return {};
}

JobKind JobKindOf(const JobView& job) {
  const bool exchanges =
      std::any_of(job.joint.families.begin(), job.joint.families.end(),
                  [](const auto& of) { return of.family == CommFamily::kExchange; });
  if (exchanges) {
    if (HasCommKernel(job, "dispatch") || HasCommKernel(job, "combine")) return JobKind::kExperts;
    for (const char* word : {"torchrec", "dlrm", "embedding"}) {
      if (SpeaksOf(job, word)) return JobKind::kEmbeddings;
    }
    if (SpeaksOf(job, "expert") || SpeaksOf(job, "moe")) return JobKind::kExperts;
  }
  if (BusiestFamily(job) == CommFamily::kPointToPoint || SpeaksOf(job, "pipeline parallel"))
    return JobKind::kPipeline;
  if (SpeaksOf(job, "tensor parallel")) return JobKind::kTensor;
  const bool training = job.workload != nullptr && job.workload->training;
  return training || SpeaksOf(job, "data parallel") ? JobKind::kData : JobKind::kUnknown;
}

}  // namespace jarvis::tools
