// What is said about the ranks of a job: one verdict, and the parts that the answer and the report
// share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ranks/rank_causes.h"
#include "analysis/ranks/rank_set.h"
#include "json/json.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

struct JobView {
  const analysis::RankSet& set;
  const analysis::JointTimeline& joint;
  const analysis::JobStory& story;
};

// "1,001", "84.3", "0.62": milliseconds of nanoseconds.
std::string MsText(std::int64_t ns);
// "81 %"
std::string ShareText(std::int64_t part, std::int64_t whole);
// "rank 2", "ranks 0, 6", by places in RankSet::ranks.
std::string RanksText(const JobView& job, const std::vector<std::size_t>& ranks);
// "host empty between `a` and `b`"
std::string StallPlace(const analysis::HostStall& stall);
// What a lever changes: "rank 2 without its stop before all_to_all".
std::string LeverText(const JobView& job, const analysis::JobLever& lever);

// One or two sentences: the cause, who waits for it, what the job takes without it.
std::string RanksVerdict(const JobView& job);

// Rows of ranks, equal ones folded: rank, role, window, busy, computation, communication, wait,
// transfer, unmatched, idle, times last, lost. Milliseconds.
void AddRankRows(const JobView& job, Answer* answer);

// The same facts as members of the structured answer.
Json VerdictJson(const JobView& job);

}  // namespace jarvis::tools
