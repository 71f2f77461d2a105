// What the report about all ranks needs of one of them: its collectives and where its GPU's time
// went. A few kilobytes for a trace of any size; digests of many ranks are reduced by
// collective_report.h, and may be made in other processes and on other machines.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/attribution/gpu_timeline.h"
#include "analysis/ranks/rank_facts.h"
#include "analysis/ranks/rank_ledger.h"
#include "analysis/ranks/rank_work.h"
#include "base/job.h"
#include "trace/reader.h"
#include "tree/call_tree.h"
#include "tree/launch_processes.h"

namespace jarvis::analysis {

// Where what is known of a collective comes from.
enum class KnownBy : std::uint8_t { kKernelArgs, kParamComms, kKernelName };

// What equal calls have in common.
struct CollectiveKind {
  CollectiveKeys recorded;  // by the kernel's own args
  CollectiveKeys known;     // with what the op around its launch and the kernel's name add
  KnownBy known_by = KnownBy::kKernelArgs;
  std::string kernel;  // its name
  // Nameless groups: which of those of this size that the rank was seen to use, from 1; 0: the
  // group has a name, or nothing tells it from others.
  std::int64_t local_group = 0;
  // Of a send or a receive, as recorded: of the job, or places in the group.
  std::optional<std::int64_t> source;
  std::optional<std::int64_t> target;
  friend auto operator<=>(const CollectiveKind&, const CollectiveKind&) = default;
};

// One communication kernel.
struct CollectiveCall {
  std::size_t kind = 0;     // RankDigest::kinds
  std::int64_t ts_ns = 0;   // on the trace's clock
  std::int64_t dur_ns = 0;  // clipped where it could not be true
  double ts_us = 0;         // as the file says, as doubles
  double dur_us = 0;
  std::int64_t covered_ns = 0;           // of dur_ns, while the same rank computed
  std::optional<std::int64_t> sequence;  // running number in its group, where that was recorded
  bool linked = false;                   // has a correlation or an external id
  bool left_out = false;  // cannot be true (see trace/repair.h); only the compatible mode counts it
  bool modern = true;     // of the category "kernel"
  bool counted = true;    // communication that tables know; else of another library by its name
};

struct RankDigest {
  std::string source;                      // name of the file
  std::string trace_id;                    // of its content; ranks of one merged file share it
  std::optional<std::int64_t> rank;        // as the trace says
  std::optional<std::int64_t> world_size;  // as the trace says
  std::optional<std::int64_t> named_rank;  // a rank that the file's name or folder speaks of
  std::optional<std::int64_t> devices;     // GPUs that the trace lists
  std::string device;                      // name of the first
  std::string host;                        // whose name the file's has; empty: it has none
  std::int64_t base_ns = 0;                // what the trace's clock counts from
  std::string damage;                      // a sentence if the trace is not whole; else empty
  bool mixed = false;                      // it is of several processes that nothing tells apart
  std::optional<GpuTimeline> timeline;     // absent: no GPU work
  std::vector<CollectiveKind> kinds;       // in order of first appearance
  std::vector<CollectiveCall> calls;       // in file order
  std::optional<RankFacts> facts;          // absent: an older digest
  std::optional<RankLedger> ledger;        // absent: an older digest, or ranks that are mixed
  std::optional<std::vector<RankStep>> steps;  // units of the ledger; absent: an older digest
  std::optional<RankKernels> kernels;          // absent: an older digest
};

// One digest, or one per rank if the file is several ranks merged (see FindMergedRanks), in their
// order. Names, ids and damage of the file are the caller's to fill in, and what the books say
// (session/rank_ledger.h).
Result<std::vector<RankDigest>> DigestTrace(const trace::Trace& trace, const tree::CallTree& tree,
                                            Job& job);
// The same without timelines and facts: what is known of the collectives alone.
Result<std::vector<RankDigest>> DigestCollectives(const trace::Trace& trace,
                                                  const tree::CallTree& tree, Job& job);

// The ranks that a tool merged into one file: processes that each launched GPU work of their own.
struct MergedRanks {
  // By track. kNone: it is of no rank. Empty: the file is one rank.
  static constexpr std::int64_t kNone = -1;
  static constexpr std::int64_t kLeftOut = -2;  // and no part of any rank's trace either
  std::vector<std::int64_t> of_track;
  // Ranks are the devices of one process that run kernels, and its host is every rank's.
  bool devices = false;
  // The ranks are neither said by names of processes ("rank 3: python", "RANK 3 - GPU") nor by
  // labels of their pids ("[TP01] 1001"), but counted in the order of their devices or of the file.
  bool assumed = false;
  // Several processes call, and nothing says whose the GPU work is.
  bool mixed = false;

  std::vector<std::int64_t> Ranks() const;  // ascending; empty: the file is one rank
};
MergedRanks FindMergedRanks(const trace::EventStore& events, const trace::Metadata& metadata,
                            const std::vector<trace::TrackNames>& names,
                            const tree::LaunchProcesses& processes);

}  // namespace jarvis::analysis
