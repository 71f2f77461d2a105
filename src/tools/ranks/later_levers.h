// What is left to do once nobody waits for a rank: transfers that nothing hides, and what every
// rank computes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/ranks/rank_words.h"
#include "tools/ranks/rank_workload.h"

namespace jarvis::tools {

struct LaterLever {
  std::string change;
  double at_most_ms = 0;  // of the way that saves most; 0: none is sized
  PathTexts paths;
  PathBounds bounds;
  std::optional<double> expected_ms =
      {};  // by which it is ordered; absent: what is possible at most
};

// Where ranks have no trace: how much longer the recorded ones spent in collectives, together, than
// such calls take at other times; of the rank with least. 0: nothing worth a word.
std::int64_t UnseenWait(const JobView& job);
// That the cause is probably a rank without a trace; empty: nothing says so.
std::string MissingVerdict(const JobView& job);

// Transfer time without computation beside it, of the rank that waits least; 0: not worth a word.
std::int64_t ExposedTransfer(const JobView& job);
// Transfers, barriers and what every rank computes, the most first.
std::vector<LaterLever> LaterLevers(const JobView& job);

// One of all changes: what is saved by replaying, or a bound of it.
struct JobChange {
  std::string change;
  PathTexts paths;
  double ms = 0;
  bool at_most = false;    // `ms` is a bound; 0: not sized
  PathBounds bounds;       // of each way, of a bound
  bool later = false;      // shows once hosts have their processors
  double expected_ms = 0;  // by which it is ordered
  // Of a bound, where the first change saves most of the base: its share of what that leaves.
  std::optional<double> of_rest = {};
};
// The most first; a lever that is a part of another is not among them.
std::vector<JobChange> ChangesOf(const JobView& job);

// What the recordings cannot tell and what to record for it: sentences, three at most. Only what
// could change the order of the changes.
std::vector<std::string> NotTold(const JobView& job);

}  // namespace jarvis::tools
