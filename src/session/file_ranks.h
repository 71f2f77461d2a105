// A file may hold several ranks of a job: which they are, and one of them as a trace of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "session/loaded_trace.h"

namespace jarvis::session {

// The ranks that analysis::FindMergedRanks tells apart, ascending; none: the file is one rank, or
// nothing tells whose its GPU work is.
struct FileRanks {
  std::vector<std::int64_t> ranks;
  std::vector<std::vector<bool>> tracks;  // by rank: which tracks of the trace are its
  bool assumed = false;                   // they are counted in the order of the file
  bool devices = false;                   // they are the devices of one process
  bool left_out = false;                  // the file holds GPU work of no rank

  // Whether a rank of it is less than all of it.
  bool several() const { return ranks.size() > 1 || (ranks.size() == 1 && left_out); }
};
FileRanks RanksOf(const LoadedTrace& trace);

// What each rank's GPUs do over all of the trace.
std::vector<RankWork> WorkOfRanks(const LoadedTrace& trace, const FileRanks& ranks);

// Of two ranks neither bounds the job if they work equally long but for this share.
inline constexpr double kRanksAlike = 0.01;

// The rank that an analysis of one of them is about: the one that works longest while nothing but
// its own work keeps it, as the others wait for it. Of ranks that are alike the lowest. Absent:
// there are none.
std::optional<std::int64_t> RankThatBounds(const std::vector<RankWork>& work);

// The trace as if its file had held that rank only. Errors: kBadValue, which lists the ranks.
Result<std::shared_ptr<LoadedTrace>> LoadRank(const LoadedTrace& file, std::int64_t rank,
                                              int threads, Job& job, const IdChoice& id_of);

}  // namespace jarvis::session
