// What is left to do once nobody waits for a rank: transfers that nothing hides, and what every
// rank computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/ranks/rank_words.h"
#include "tools/ranks/rank_workload.h"

namespace jarvis::tools {

struct LaterLever {
  std::string change;
  double at_most_ms = 0;
  PathTexts paths;
  double a_part = 1;  // what of it Path A saves at most
};

// Where ranks have no trace: how much longer the recorded ones spent in collectives, together, than
// such calls take at other times; of the rank with least. 0: nothing worth a word.
std::int64_t UnseenWait(const JobView& job);
// That the cause is probably a rank without a trace; empty: nothing says so.
std::string MissingVerdict(const JobView& job);

// Transfer time without computation beside it, of the rank that waits least; 0: not worth a word.
std::int64_t ExposedTransfer(const JobView& job);
// Absent for no time worth it. `workload` may be null.
std::vector<LaterLever> TransferLever(const JobView& job, const RankWorkload* workload);
// That first, then what the ranks compute, the most first.
std::vector<LaterLever> LaterLevers(const JobView& job, const RankWorkload* workload);

}  // namespace jarvis::tools
