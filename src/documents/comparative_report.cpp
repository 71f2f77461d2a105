#include "documents/comparative_report.h"

#include "documents/comparative_facts.h"
#include "documents/comparative_fair.h"
#include "documents/comparative_rough.h"

namespace jarvis::documents {

Result<ComparativeReports> MakeComparativeReports(const ComparativeSide& target,
                                                  const ComparativeSide& reference, Job& job) {
  JV_ASSIGN(const ComparativeFacts facts, CollectFacts(target, reference, job));
  JV_TRY(job.Check());
  return ComparativeReports{FairReport(facts), RoughReport(facts)};
}

}  // namespace jarvis::documents
