#include "engine/comparative_report.h"

#include "engine/comparative_facts.h"
#include "engine/comparative_fair.h"
#include "engine/comparative_rough.h"

namespace jarvis::engine {

Result<ComparativeReports> MakeComparativeReports(const ComparativeSide& target,
                                                  const ComparativeSide& reference, Job& job) {
  JV_ASSIGN(const ComparativeFacts facts, CollectFacts(target, reference, job));
  JV_TRY(job.Check());
  return ComparativeReports{FairReport(facts), RoughReport(facts)};
}

}  // namespace jarvis::engine
