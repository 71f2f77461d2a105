// What a rank's host and GPU did around its collectives, in a few bytes for each: enough to say who
// comes late and why, and what the job would take otherwise, without the trace.
//
// Times are nanoseconds on the trace's own clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/rank_work.h"
#include "trace/event_store.h"
#include "tree/correlation_index.h"

namespace jarvis::analysis {

// What the host was in while nothing of it was recorded, and it did not wait for the GPU.
enum class HostPlace : std::uint8_t {
  kEmpty,   // no op and no call: plain Python, a sleep, or not running at all
  kOp,      // an op, between two of its calls
  kCall,    // a runtime call that has no reason to wait
  kMemory,  // a call that takes or gives back memory
};

// A stretch without a recorded event of any thread that launches GPU work.
struct RankHostPiece {
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;
  // The median of the rank's stretches at this place, between the same two neighbours; where there
  // are less than kPlaceSeenMin of them, of all in the same op or call, or in none.
  std::int64_t usual_ns = 0;
  std::int64_t times = 0;  // stretches at this place, of whatever length
  HostPlace place = HostPlace::kEmpty;
  std::uint32_t inside = 0;  // RankFacts::names: the call or op; "": none
  std::uint32_t before = 0;  // what was recorded last
  std::uint32_t after = 0;   // what comes next
  // Of stretches of kNamedPieceMinNs and more: the innermost annotation around it; "": none.
  std::uint32_t annotation = 0;
};

// A call that returned when GPU work ended: the host was not free to go on.
struct RankHostWait {
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;
  std::uint32_t call = 0;  // RankFacts::names
};

// GPU work of one name before a call.
struct WorkBefore {
  std::uint32_t kernel = 0;  // RankFacts::names
  std::int64_t ns = 0;
};

// How one call of RankDigest::calls got to the GPU.
struct CollectiveArrival {
  std::optional<std::int64_t> launch_ns;  // the start of the call that launched it
  // The launch that its start hung on: its own, or that of the work which began after the GPU's
  // last pause before it. Absent: the GPU had no pause since the collective before, or went on with
  // work that was queued, or the launch was not recorded.
  std::optional<std::int64_t> anchor_ns;
  std::int64_t after_anchor_ns = 0;  // from anchor_ns to the call's start
  std::int64_t busy_ns = 0;     // GPU work other than communication since the call before ended
  std::int64_t compute_ns = 0;  // ... since the call before started
  // What most of busy_ns is of, the longest first, kWorkBeforeMax at most; empty: an older digest.
  std::vector<WorkBefore> work;
  // Of another library than IsCollectiveName knows; tables leave it out.
  CommFamily family = CommFamily::kOther;
};

struct RankFacts {
  // First and last instant of host and GPU; absent without such events.
  std::optional<std::int64_t> host_start_ns;
  std::optional<std::int64_t> host_end_ns;
  std::optional<std::int64_t> gpu_start_ns;
  std::optional<std::int64_t> gpu_end_ns;
  std::int64_t wait_ns = 0;  // in calls that waited for the GPU
  std::uint64_t launches = 0;
  std::vector<std::string> names;  // the first is empty
  // Of kPieceMinNs and kWaitMinNs and more, by start; the longest if there are many.
  std::vector<RankHostPiece> pieces;
  std::vector<RankHostWait> waits;
  std::uint64_t left_out = 0;               // pieces and waits beyond kPiecesMax
  std::vector<CollectiveArrival> arrivals;  // by place in RankDigest::calls
  // What comes after the end of the last collective: GPU work and the launch that the GPU's end
  // hung on; nothing if nothing does.
  CollectiveArrival tail;
};

// Shorter stretches are not listed.
inline constexpr std::int64_t kPieceMinNs = 500'000;
inline constexpr std::int64_t kNamedPieceMinNs = 20'000'000;
inline constexpr std::int64_t kPlaceSeenMin = 4;
// A stretch is out of the ordinary if it takes so many times the usual.
inline constexpr std::int64_t kUnusualTimes = 10;
inline constexpr std::int64_t kWaitMinNs = 50'000;
inline constexpr std::size_t kPiecesMax = 4096;
inline constexpr std::size_t kWorkBeforeMax = 4;
inline constexpr std::size_t kWorkNamesMax = 1024;  // of kernels; others are left out
// Lengths are cut to an hour: nothing real is longer, and sums stay within the type.
inline constexpr std::int64_t kFactMaxNs = 3'600'000'000'000;

// Whether it took far longer than such stretches do.
inline bool IsUnusual(const RankHostPiece& piece) {
  return piece.dur_ns / kUnusualTimes >= piece.usual_ns;
}

// `gpu`: the rank's GPU work that counts; `comm`: its communication kernels, in the order of
// RankDigest::calls. `host`: whether a track is of the rank. `launches`: of runtime calls.
RankFacts FindRankFacts(const trace::EventStore& events, const std::vector<trace::EventIndex>& gpu,
                        const std::vector<trace::EventIndex>& comm, const std::vector<bool>& host,
                        const tree::CorrelationIndex& launches);

}  // namespace jarvis::analysis
