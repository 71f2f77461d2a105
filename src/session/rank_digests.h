// Many traces of one job, each read once, made into digests and let go of: what is in memory is
// bounded by as many traces as there are threads, whatever the number of ranks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks/rank_set.h"
#include "base/job.h"
#include "io/file_policy.h"

namespace jarvis::session {

// More files than any job has ranks.
inline constexpr std::size_t kRankFilesMax = 100'000;

struct RankDigestOptions {
  int threads = 0;  // 0: one per core
  std::uint64_t trace_bytes_max = 0;
  // Reads a digest that was written as a file. Absent: digests are not accepted.
  std::function<Result<std::vector<analysis::RankDigest>>(std::string_view text)> read_digest;
  // Whether a file's text begins like a digest.
  std::function<bool(std::string_view begin)> is_digest;
};

struct RankDigests {
  // In the order of the files, those of merged files last.
  std::vector<analysis::RankDigest> digests;
  std::vector<analysis::RankWarning> warnings;  // files that gave none
  std::size_t files = 0;
  std::size_t merged_files = 0;  // with several ranks each
};

// The files that `given` names: files as they are, directories with the traces and digests below
// them or, where there are none, with the archives; archives of several traces with these, as
// "ARCHIVE#NAME". `left_out`, if given: what else
// lies beside these. Errors: what the policy says of the first that may not be read;
// kTraceNotFound.
Result<std::vector<std::string>> FindRankFiles(
    const io::FilePolicy& files, const std::vector<std::string>& given, const Job& job,
    std::vector<analysis::RankWarning>* left_out = nullptr);

// Digests of all of them, several at once. A file that cannot be read costs itself only; an error
// if none can.
Result<RankDigests> DigestFiles(const io::FilePolicy& files, const std::vector<std::string>& paths,
                                const RankDigestOptions& options, Job& job);

// The rank that a path speaks of: "rank3", "rank_03", "rank[3]", "_r3" or "TP-3" in the file's
// name, else in its directories, the innermost first.
std::optional<std::int64_t> RankInPath(std::string_view path);
// The same of the files of one job, of which names like "dp1_tp0" say a rank only beside each
// other.
std::vector<std::optional<std::int64_t>> RanksInPaths(const std::vector<std::string>& paths);

// The host that a file's name speaks of: "gpu-node-07_2211.1698955360332661.pt.trace.json.gz", as
// PyTorch's handler for TensorBoard names them, is of "gpu-node-07"; else "".
std::string HostInPath(std::string_view path);

}  // namespace jarvis::session
