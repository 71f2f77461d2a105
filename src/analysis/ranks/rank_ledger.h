// What a rank's ledger says (ledger/books): the figures that `analyze` of its trace alone gives, in
// a digest. What only all ranks tell is added here: which of the exposed communication is waiting.
//
// Times are nanoseconds, of the base of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/interval.h"
#include "table/table.h"

namespace jarvis::analysis {

struct RankSet;
struct JointTimeline;

// RankLedger::unit of steps that a profiler's schedule marked.
inline constexpr std::string_view kMarkedStep = "step";

struct RankLedger {
  std::string unit;        // "step", "pass", "recording"
  std::int64_t count = 1;  // units in the base
  std::int64_t base_ns = 0;
  std::int64_t busy_ns = 0;
  // What the wall waits for: these, exposed communication and what is not recorded add up to the
  // base.
  std::int64_t compute_ns = 0;
  std::int64_t copy_ns = 0;           // between host and device, exposed
  std::int64_t idle_host_ns = 0;      // by what the host does, but for ...
  std::int64_t not_scheduled_ns = 0;  // ... that it was not running
  std::int64_t idle_other_ns = 0;
  std::int64_t foreign_ns = 0;        // work that was launched before the recording
  IntervalSet<std::int64_t> exposed;  // communication that nothing hides, on the trace's clock
  IntervalSet<std::int64_t> base;     // where it lies, on that clock; empty: an older digest
  std::int64_t host_alone_ns = 0;
  // Of the recording, in no base.
  std::int64_t one_time_ns = 0;
  std::int64_t unrecorded_ns = 0;
  std::int64_t left_out_ns = 0;
  std::string bound;  // what bounds it: "host-bound"

  std::int64_t unit_ns() const { return base_ns / count; }
  std::int64_t exposed_ns() const { return Length(exposed); }
  std::int64_t idle_ns() const { return idle_host_ns + not_scheduled_ns + idle_other_ns; }
};

// Where exposed communication went, as far as the ranks' collectives are matched.
struct ExposedSplit {
  std::int64_t wait_ns = 0;
  std::int64_t bubble_ns = 0;
  std::int64_t transfer_ns = 0;   // also between devices without a collective
  std::int64_t unmatched_ns = 0;  // of no partner
};
// Absent: the rank has no ledger, or no collective is matched.
std::optional<ExposedSplit> SplitExposed(const RankSet& set, const JointTimeline& joint,
                                         std::size_t rank);

// "ledger": a row a rank, without those that have none; milliseconds of the base.
Table RankLedgers(const RankSet& set, const JointTimeline& joint);

}  // namespace jarvis::analysis
