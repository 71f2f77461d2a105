// One trace of all ranks for a viewer, made in bounded memory: each file is read twice, first for
// what it says about itself, then event by event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ranks/rank_set.h"
#include "base/job.h"
#include "io/file_policy.h"
#include "io/gzip_file.h"

namespace jarvis::session {

struct MergeOptions {
  std::uint64_t trace_bytes_max = 0;
  bool python_functions = true;
};

struct MergedRank {
  std::int64_t rank = 0;
  std::string source;
  std::uint64_t events = 0;
};

struct Merged {
  std::vector<MergedRank> ranks;  // by rank
  std::uint64_t file_bytes = 0;   // written
  std::vector<analysis::RankWarning> warnings;
};

// Writes the traces at `paths` as one: ranks ascending, pids and the ids of arrows, correlations
// and autograd sequences unique, processes named "rank 3: ...", clocks counted from one base.
// Closes the file. Errors: none of the files is a trace; one of them is merged already.
Result<Merged> MergeRanks(const io::FilePolicy& files, const std::vector<std::string>& paths,
                          const MergeOptions& options, io::GzipFile& out, Job& job);

}  // namespace jarvis::session
