// What is said about the ranks of a job: one verdict, and the parts that the answer and the report
// share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/lone_rank.h"
#include "analysis/ranks/rank_causes.h"
#include "analysis/ranks/rank_set.h"
#include "json/json.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

struct RankWorkload;

struct JobView {
  const analysis::RankSet& set;
  const analysis::JointTimeline& joint;
  const analysis::JobStory& story;
  const RankWorkload* workload = nullptr;  // null: not known
};

// "1,001", "84.3", "0.62": milliseconds of nanoseconds.
std::string MsText(std::int64_t ns);
std::string MsDigits(double ms);  // the same of milliseconds
// What lies before the last rank's beginning, where figures are counted from there; else 0.
std::int64_t LateBegin(const JobView& job);
// What shares are of (JobStory::base_ns).
std::int64_t BaseOf(const JobView& job);
// "81 %"
std::string PartText(double part, double whole);
std::string ShareText(std::int64_t part, std::int64_t whole);
// "rank 2", "ranks 0, 6", "all 8 ranks", by places in RankSet::ranks.
std::string RanksText(const JobView& job, const std::vector<std::size_t>& ranks);
// "host in Python or blocked, no op recorded between a and b"
std::string StallPlace(const analysis::HostStall& stall);
// What a lever changes: "rank 2 without its stop before all_to_all".
std::string LeverText(const JobView& job, const analysis::JobLever& lever);

// One or two sentences: the cause, who waits for it, what the job takes without it, and how much of
// the base is exposed communication, which comes first where that is the largest.
std::string RanksVerdict(const JobView& job);

// Of one rank: which of its collectives look like waits, and that it cannot tell for whom.
std::string LoneVerdict(const JobView& job, const std::vector<analysis::LoneKind>& kinds);
// "AllGather of 128 B takes 212 to 486 us (10 calls, 3.93 ms): ..."; nothing if it is no wait.
std::string LoneText(const analysis::LoneKind& kind);
// "5.75 MB": decimal units.

// "waiting 3,125 ms (97 %), transfer ...": of the communication of all ranks together.
std::string CommText(const JobView& job);

struct PathTexts {
  std::string b;  // what is set or started otherwise: the code stays as it is
  std::string a;  // what changes the code
};
// What each way saves at most, milliseconds; absent: nothing recorded sizes it.
struct PathBounds {
  std::optional<double> b, a;
};
// Each with what it saves. Empty for a lever that is a part of another (kStarvedLate).
PathTexts PathsOf(const JobView& job, const analysis::JobLever& lever);

// The changes as members of the structured answer; `text`: the verdict. `levers` are what replaying
// tells, `then` what has a bound alone; `place` is that in the one list of both, from 1.
Json VerdictJson(const JobView& job, const std::string& text);

}  // namespace jarvis::tools
