// Which rank of the job each process is.
//
// In this order, the first that tells all processes of one execution apart: a rank in the files'
// name (rank3_..., or names that differ in 0, 1, 2... alone) or directory; in the recorded command
// or environment; the index of the GPU that the process's kernels ran on (local ranks, hosts one
// after the other); else the order of the process ids, with a warning. The order of process ids as
// text is no order of ranks.
#pragma once

#include "rocprof/read/records.h"

namespace jarvis::rocprof {

// Sets rank and rank_source, and sorts the processes by config, pass and rank.
void AssignRanks(Capture* capture);

// The rank that a text names: "rank3", "rank_3", "--local-rank=3", "RANK=3".
std::optional<std::int64_t> RankInText(std::string_view text);

}  // namespace jarvis::rocprof
