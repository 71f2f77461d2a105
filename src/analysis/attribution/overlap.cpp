#include "analysis/attribution/overlap.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/attribution/kernel_cells.h"
#include "analysis/attribution/stats.h"
#include "base/limits.h"
#include "base/text.h"
#include "table/py_text.h"

namespace jarvis::analysis {
namespace {

constexpr std::int64_t kLeastNs = 1000;
constexpr double kLeastUs = 1.0;

// The events that run at one moment, a list a stream.
template <typename T>
class Sweep {
 public:
  Sweep(const EventStore& events, std::span<const EventIndex> work, const OverlapOptions& options)
      : events_(events), options_(options), work_(work.begin(), work.end()) {
    for (const Interval<T>& interval : IntervalsOf<T>(events, work))
      intervals_.push_back(interval);
  }

  Result<std::vector<std::pair<EventIndex, EventIndex>>> Run(Job& job) {
    MakeMoments();
    for (std::size_t i = 0; i < moments_.size(); ++i) {
      if (i % 4096 == 0) JV_TRY(job.Check());
      const Moment& moment = moments_[i];
      auto& stream = running_[events_.args_of(work_[moment.work]).stream];
      if (!moment.start) {
        stream.erase(std::find(stream.begin(), stream.end(), moment.work));
        // There may be as many streams as events: those at rest are not asked.
        if (stream.empty()) running_.erase(events_.args_of(work_[moment.work]).stream);
        continue;
      }
      MeetOthers(moment.work);
      if (pairs_.size() > limits::kOverlapPairsMax) {
        return Fail(ErrorCode::kTooLarge, "more GPU events overlap than this table can hold",
                    "repeat without include_overlap_info");
      }
      stream.push_back(moment.work);
    }
    return std::move(pairs_);
  }

 private:
  struct Moment {
    T at;
    bool start;
    std::size_t work;
  };

  void MakeMoments() {
    for (std::size_t i = 0; i < work_.size(); ++i) {
      if (!(intervals_[i].start < intervals_[i].end)) continue;
      moments_.push_back({intervals_[i].start, true, i});
      moments_.push_back({intervals_[i].end, false, i});
    }
    // At one moment ends come before starts.
    std::stable_sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
      return a.at != b.at ? a.at < b.at : a.start < b.start;
    });
  }

  // Work without a known stream is tested against all.
  void MeetOthers(std::size_t work) {
    const std::int64_t own = events_.args_of(work_[work]).stream;
    std::vector<std::size_t> others;
    for (const auto& [stream, running] : running_) {
      if (stream == own && own != trace::kAbsent) continue;
      others.insert(others.end(), running.begin(), running.end());
    }
    for (const std::size_t other : others) {
      if (SameOp(work, other)) continue;
      const T start = std::max(intervals_[work].start, intervals_[other].start);
      const T end = std::min(intervals_[work].end, intervals_[other].end);
      if (!(end - start < Least())) pairs_.emplace_back(work_[work], work_[other]);
    }
  }

  static T Least() {
    if constexpr (std::is_same_v<T, double>) {
      return kLeastUs;
    } else {
      return kLeastNs;
    }
  }

  bool SameOp(std::size_t a, std::size_t b) const {
    if (options_.op_of.empty()) return false;
    const EventIndex op = options_.op_of[work_[a]];
    return op != kNoEvent && op == options_.op_of[work_[b]];
  }

  const EventStore& events_;
  const OverlapOptions& options_;
  std::vector<EventIndex> work_;
  std::vector<Interval<T>> intervals_;
  std::vector<Moment> moments_;
  std::map<std::int64_t, std::vector<std::size_t>> running_;
  std::vector<std::pair<EventIndex, EventIndex>> pairs_;
};

// In nanoseconds' arithmetic relative to an origin, so that nothing is rounded.
Interval<double> IntervalUs(const EventStore& events, EventIndex e, Clock clock,
                            std::int64_t origin_ns) {
  if (clock == Clock::kNanoseconds) {
    return {trace::MicrosOf(events[e].ts_ns - origin_ns),
            trace::MicrosOf(events[e].end_ns() - origin_ns)};
  }
  const double ts = events.ts_us(e);
  return {ts, ts + events.dur_us(e)};
}

// The parts of a kernel that its partners cover, one per partner.
std::vector<Interval<double>> Shared(const EventStore& events, EventIndex kernel,
                                     std::span<const EventIndex> partners, Clock clock) {
  const std::int64_t origin = events[kernel].ts_ns;
  const Interval<double> own = IntervalUs(events, kernel, clock, origin);
  std::vector<Interval<double>> shared;
  shared.reserve(partners.size());
  for (const EventIndex partner : partners) {
    const Interval<double> other = IntervalUs(events, partner, clock, origin);
    shared.push_back({std::max(own.start, other.start), std::min(own.end, other.end)});
  }
  return shared;
}

double RoundedInCells(double value) {
  return std::rint(value * 100) / 100;
}

}  // namespace

double RoundedTo2(double value) {
  if (!std::isfinite(value)) return value;
  return ParseDouble(fmt::format("{:.2f}", value)).value_or(value);
}

std::span<const EventIndex> Overlaps::PartnersOf(EventIndex gpu) const {
  const auto found = std::lower_bound(first_.begin(), first_.end(), std::pair(gpu, std::size_t{0}));
  if (found == first_.end() || found->first != gpu) return {};
  const auto next = found + 1;
  const std::size_t end = next == first_.end() ? partners_.size() : next->second;
  return std::span(partners_).subspan(found->second, end - found->second);
}

Result<Overlaps> FindOverlaps(const EventStore& events, std::span<const EventIndex> work,
                              const OverlapOptions& options, Job& job) {
  std::vector<std::pair<EventIndex, EventIndex>> pairs;
  if (options.clock == Clock::kDoubleMicros) {
    JV_ASSIGN(pairs, Sweep<double>(events, work, options).Run(job));
  } else {
    JV_ASSIGN(pairs, Sweep<std::int64_t>(events, work, options).Run(job));
  }
  std::vector<std::pair<EventIndex, EventIndex>> both;  // each pair from either side
  both.reserve(pairs.size() * 2);
  for (const auto& [a, b] : pairs) {
    both.emplace_back(a, b);
    both.emplace_back(b, a);
  }
  std::stable_sort(both.begin(), both.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Overlaps result;
  result.partners_.reserve(both.size());
  std::vector<EventIndex> partners;
  for (std::size_t i = 0; i < both.size();) {
    const EventIndex e = both[i].first;
    partners.clear();
    for (; i < both.size() && both[i].first == e; ++i)
      partners.push_back(both[i].second);
    if (options.order != nullptr) {
      options.order(events, &partners);
    } else {
      std::sort(partners.begin(), partners.end(), [&](EventIndex a, EventIndex b) {
        return std::pair(events[a].ts_ns, events[a].uid) <
               std::pair(events[b].ts_ns, events[b].uid);
      });
    }
    result.first_.emplace_back(e, result.partners_.size());
    result.partners_.insert(result.partners_.end(), partners.begin(), partners.end());
  }
  return result;
}

std::string Overlap::NamesText() const {
  if (partners.empty()) return {};
  std::string text;
  for (const OverlapPartner& partner : partners)
    text.append(text.empty() ? "[" : ", ").append(PyString(partner.name));
  return text + "]";
}

Overlap OverlapOf(const EventStore& events, const Overlaps& overlaps,
                  std::span<const EventIndex> kernels, const TableRules& rules) {
  const Clock clock = rules.clock;
  struct Seen {
    std::vector<double> durations;
    std::vector<double> shares;
  };
  Overlap result;
  std::vector<Seen> seen;
  std::unordered_map<std::string_view, std::size_t> place_of;
  const double busy = BusyUs(events, kernels, clock);
  const auto share = [&](double us) { return busy > 0 ? RoundedTo2(us / busy) : 0; };
  double covered = 0;
  for (const EventIndex kernel : kernels) {
    const auto partners = overlaps.PartnersOf(kernel);
    std::vector<Interval<double>> shared = Shared(events, kernel, partners, clock);
    for (std::size_t i = 0; i < partners.size(); ++i) {
      const std::string_view name = events.name(partners[i]);
      const auto [place, added] = place_of.try_emplace(name, seen.size());
      const std::size_t at = place->second;
      if (added) {
        result.partners.push_back({name, events.args_of(partners[i]).stream});
        seen.emplace_back();
      }
      seen[at].durations.push_back(DurationUs(events, partners[i], clock));
      seen[at].shares.push_back(share(shared[i].end - shared[i].start));
    }
    covered += Length(Union(std::move(shared)));
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto mean = [](const std::vector<double>& values) {
      double sum = 0;
      for (const double value : values)
        sum += value;
      return RoundedTo2(sum / static_cast<double>(values.size()));
    };
    result.partners[i].duration_us = mean(seen[i].durations);
    result.partners[i].overlap_pct = mean(seen[i].shares);
  }
  if (!seen.empty()) result.overlap_pct = share(covered);
  if (!rules.overlap_names_by_first_sight) {
    std::sort(result.partners.begin(), result.partners.end(),
              [](const OverlapPartner& a, const OverlapPartner& b) { return a.name < b.name; });
  }
  return result;
}

std::vector<std::string> OverlapColumns() {
  return {"overlapping_kernels_details_summary",
          "trunc_overlapping_kernels_details",
          "overlap_pct_mean",
          "overlap_pct_median",
          "overlap_pct_std",
          "overlap_pct_min",
          "overlap_pct_max"};
}

std::vector<Cell> OverlapCells(std::span<const Overlap* const> calls,
                               const OverlapCellRules& rules) {
  std::vector<KernelCell> cells;
  std::vector<std::vector<double>> shares;
  std::vector<double> totals;
  for (const Overlap* call : calls) {
    if (cells.empty()) {
      for (const OverlapPartner& partner : call->partners)
        cells.push_back({partner.name, partner.stream, {}, {}});
      shares.resize(cells.size());
    }
    if (call->partners.size() != cells.size()) continue;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i].durations_us.push_back(call->partners[i].duration_us);
      shares[i].push_back(call->partners[i].overlap_pct);
    }
    if (call->overlap_pct) totals.push_back(*call->overlap_pct);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double mean = PairwiseSum(shares[i]) / static_cast<double>(shares[i].size());
    cells[i].more =
        "'overlap_pct': " + PyFloat(rules.share_of_first_call ? shares[i][0] : RoundedTo2(mean));
  }
  SortKernelCells(&cells);
  std::vector<Cell> result = {KernelSummaryText(cells), KernelShortText(cells)};
  if (totals.empty()) {
    result.resize(OverlapColumns().size());
    return result;
  }
  const Moments moments = GroupMoments(totals);
  for (const double value :
       {moments.mean, moments.median, moments.std.value_or(0), moments.min, moments.max})
    result.emplace_back(rules.two_decimals ? RoundedInCells(value) : value);
  return result;
}

}  // namespace jarvis::analysis
