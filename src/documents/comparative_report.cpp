#include "documents/comparative_report.h"

#include "documents/comparative_facts.h"
#include "documents/comparative_fair.h"
#include "documents/comparative_rough.h"

namespace jarvis::documents {

Result<ComparativeReports> MakeComparativeReports(const ComparativeSide& candidate,
                                                  const ComparativeSide& baseline, Job& job) {
  JV_ASSIGN(const ComparativeFacts facts, CollectFacts(candidate, baseline, job));
  JV_TRY(job.Check());
  return ComparativeReports{FairReport(facts), RoughReport(facts)};
}

}  // namespace jarvis::documents
