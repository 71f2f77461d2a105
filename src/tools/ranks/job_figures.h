// Figures of a job that its answer and its report share: all are of the base of time that the
// ranks' own ledgers have.
#pragma once

#include <string>
#include <string_view>

#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

// Of all ranks together, milliseconds. Where a rank has no ledger: of all that was recorded,
// whether something hides it or not.
struct CommSums {
  bool of_base = false;
  double base = 0;
  double comm = 0;  // of the base: what nothing hides
  double wait = 0;
  double bubble = 0;
  double transfer = 0;
  double unmatched = 0;
  // "exposed communication", "communication time"
  const char* name() const { return of_base ? "exposed communication" : "communication time"; }
};
CommSums CommSumsOf(const JobView& job);

// "recording", "recorded step", "2 steps": what figures are of.
std::string BaseWords(const JobView& job);

// "53 % of the recording is exposed communication (mean of the ranks: waiting 12.9 ms, transfer
// 43.7 ms)"; empty: there is none, or one rank alone.
std::string ExposedText(const JobView& job);

// Of the exposed transfers of a rank, in the mean: what is beyond the fastest call of each kind,
// milliseconds. Kinds of less than four calls, or of calls that hardly
// move the same, have none. `kernel`: of this kernel's calls alone, by its short name; empty: of
// all.
double SpreadTransfer(const JobView& job, std::string_view kernel = {});

// What of a base the ranks could spend on transfers and computation at once, milliseconds: the
// rank with least exposed communication, and the one with least computation. 0: no ledgers.
struct OverlapRoom {
  double exposed_ms = 0;
  double compute_ms = 0;
};
OverlapRoom RoomToOverlap(const JobView& job);

// Whether the size of any message is recorded.
bool SizesKnown(const JobView& job);

}  // namespace jarvis::tools
