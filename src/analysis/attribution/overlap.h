// Which GPU events run at the same time, and how much of an op's GPU time they share.
//
// Definition: of two events that do not run on one stream and do not belong to one op, the part
// that both cover, if it is at least a microsecond. Events without duration take no part.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/clock.h"
#include "analysis/attribution/table_rules.h"
#include "base/job.h"
#include "table/table.h"

namespace jarvis::analysis {

struct OverlapOptions {
  Clock clock = Clock::kNanoseconds;
  // By event: the op of GPU work, or kNoEvent; work of one op does not overlap with itself. Empty:
  // it does.
  std::span<const EventIndex> op_of;
  // Orders one event's partners; they come in the order in which they were found.
  void (*order)(const EventStore& events, std::vector<EventIndex>* partners) = nullptr;
};

class Overlaps {
 public:
  // The events that run while `gpu` does; by start, then by uid, unless the options order them.
  std::span<const EventIndex> PartnersOf(EventIndex gpu) const;
  std::size_t pairs() const { return partners_.size() / 2; }

 private:
  friend Result<Overlaps> FindOverlaps(const EventStore& events, std::span<const EventIndex> work,
                                       const OverlapOptions& options, Job& job);
  std::vector<std::pair<EventIndex, std::size_t>> first_;  // by event: where its partners start
  std::vector<EventIndex> partners_;
};

// `work`: the GPU events to look at, in any order. An error if there are more pairs than
// limits::kOverlapPairsMax.
Result<Overlaps> FindOverlaps(const EventStore& events, std::span<const EventIndex> work,
                              const OverlapOptions& options, Job& job);

// What runs beside some kernels, one entry per name; by name (or, by the rule for it, in order of
// first sight).
struct OverlapPartner {
  std::string_view name;
  std::int64_t stream = trace::kAbsent;  // of the first
  double duration_us = 0;                // mean of the partners' own durations, two decimals
  double overlap_pct = 0;  // mean share of the kernels' busy time that one of them covers, 0 to 1
};
struct Overlap {
  std::vector<OverlapPartner> partners;
  std::optional<double> overlap_pct;  // share of the busy time under some partner; absent: none
  // "['a', 'b']", the partners' names; empty if there are none.
  std::string NamesText() const;
};

// Of the kernels of one call (of a launcher, or all below an op), by start.
Overlap OverlapOf(const EventStore& events, const Overlaps& overlaps,
                  std::span<const EventIndex> kernels, const TableRules& rules);

// The columns behind the kernel cells of a table that keeps overlap apart:
// overlapping_kernels_details_summary, trunc_overlapping_kernels_details, and of the calls'
// overlap_pct: overlap_pct_mean, _median, _std (0 for one call), _min, _max.
std::vector<std::string> OverlapColumns();
struct OverlapCellRules {
  // The overlap_pct in the summary is the first call's, not the mean.
  bool share_of_first_call = false;
  // The overlap_pct_* cells have two decimals.
  bool two_decimals = false;
};
// `calls`: the row's calls, all with the same partner names.
std::vector<Cell> OverlapCells(std::span<const Overlap* const> calls,
                               const OverlapCellRules& rules);

// A number as Python's round(value, 2) gives it.
double RoundedTo2(double value);

}  // namespace jarvis::analysis
