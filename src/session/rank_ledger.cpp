#include "session/rank_ledger.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/frames/time_frames.h"
#include "ledger/books/books.h"
#include "ledger/books/step_bound.h"
#include "session/file_ranks.h"
#include "session/trace_bound.h"

namespace jarvis::session {
namespace {

using analysis::BaseOfTime;
using analysis::TimeMeter;
using analysis::TimeSpan;
using ledger::IdleCause;
using ledger::WorkKind;

analysis::RankLedger LedgerOf(const BaseOfTime& base, const ledger::Books& books,
                              const ledger::StepBound& bound) {
  const ledger::WallBook& wall = books.wall;
  analysis::RankLedger made;
  made.unit = analysis::TimeUnitText(base.unit);
  made.count = base.count;
  made.base_ns = base.ns();
  made.base = base.base;
  made.busy_ns = books.gpu.busy_ns;
  made.exposed = Intersect(wall.communication, base.base);
  made.copy_ns = wall.Of(WorkKind::kHostCopy);
  made.compute_ns = books.gpu.busy_ns - made.copy_ns - wall.communication_ns();
  for (std::size_t i = 0; i < ledger::kIdleCauses; ++i) {
    const auto cause = static_cast<IdleCause>(i);
    std::int64_t& of = cause == IdleCause::kNotScheduled ? made.not_scheduled_ns
                       : ledger::IsHosts(cause)          ? made.idle_host_ns
                                                         : made.idle_other_ns;
    of += wall.idle_ns[i];
  }
  made.foreign_ns = wall.unrecorded_ns;
  made.host_alone_ns = books.host.alone_ns;
  made.one_time_ns = base.one_time_ns;
  made.unrecorded_ns = base.unrecorded_ns;
  made.left_out_ns = base.left_out_ns;
  made.bound = ledger::BoundKindText(bound.kind);
  return made;
}

std::vector<analysis::RankStep> StepsOf(const BaseOfTime& base, const ledger::WallBook& wall) {
  const TimeMeter busy(wall.busy);
  const TimeMeter communication(wall.communication);
  const TimeMeter copies(wall.host_copies);
  std::vector<analysis::RankStep> steps;
  // A recording without units has none.
  const std::size_t count = std::min(base.units.size(), base.host_units.size());
  for (std::size_t i = 0; i < std::min(count, analysis::kRankStepsMax); ++i) {
    const TimeSpan unit = base.units[i];
    const std::int64_t exposed = communication.In(unit);
    steps.push_back({base.host_units[i].number, unit.start, unit.end - unit.start, busy.In(unit),
                     busy.In(unit) - exposed - copies.In(unit), exposed});
  }
  return steps;
}

}  // namespace

Result<std::vector<analysis::RankDigest>> DigestsOfTrace(const LoadedTrace& trace, Job& job) {
  JV_ASSIGN(std::vector<analysis::RankDigest> digests,
            analysis::DigestTrace(trace.trace(), trace.tree(), job));
  const std::vector<std::vector<bool>> tracks = RanksOf(trace).tracks;
  const bool merged = !tracks.empty();
  if (merged ? tracks.size() != digests.size() : digests.size() != 1 || digests.front().mixed)
    return digests;
  const ledger::KindsOfWork kinds(trace.events(), trace.tree());
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const analysis::FrameFacts facts = analysis::CollectFrameFacts(
        {trace.events(), trace.tree(), trace.attribution(), merged ? &tracks[i] : nullptr});
    const BaseOfTime base = analysis::MakeBaseOfTime(facts);
    const ledger::Books books = ledger::KeepBooks(facts, base, kinds);
    JV_ASSIGN(const ledger::StepBound bound, BoundOf(trace, base, books, job));
    digests[i].ledger = LedgerOf(base, books, bound);
    digests[i].steps = StepsOf(base, books.wall);
    JV_TRY(job.Check());
  }
  return digests;
}

}  // namespace jarvis::session
