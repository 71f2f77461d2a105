// Two traces as a report to read, in the two forms of the workflow: "fair", for whoever decides,
// and "rough", with all the numbers and how they were come by. Here the primary is called the
// candidate and the comparison the baseline. The words are neutral: where the candidate could be
// faster, by what the baseline shows to be possible and the devices' figures do not explain; never
// which one is better.
#pragma once

#include <string>

#include "base/job.h"
#include "findings/two/compare_traces.h"

namespace jarvis::documents {

struct ComparativeSide {
  findings::CompareSide side;
  std::string name;  // where the devices are the same, the runs are told apart by it
};

struct ComparativeReports {
  std::string fair;   // comparative_analysis_fair.md
  std::string rough;  // comparative_analysis_rough.md
};

Result<ComparativeReports> MakeComparativeReports(const ComparativeSide& candidate,
                                                  const ComparativeSide& baseline, Job& job);

}  // namespace jarvis::documents
