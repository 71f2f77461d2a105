#include "analysis/ranks/rank_causes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/ranks/job_base.h"
#include "analysis/ranks/more_work.h"
#include "analysis/ranks/rank_replay.h"
#include "analysis/ranks/scheduler_tick.h"
#include "analysis/ranks/shared_loss.h"
#include "analysis/ranks/stands_out.h"

namespace jarvis::analysis {
namespace {

// Lost pieces are a processor's doing if they lie at so many places or more, none of which has
// more than half of them.
constexpr std::size_t kScatteredPlaces = 5;
constexpr double kScatteredShare = 0.5;
// ... and a rank is starved if they take this share of its host's time.
constexpr double kStarvedShare = 0.1;
// Less than this share of the wall is not worth a lever.
constexpr double kLeverShare = 0.005;
// A rank is a cause, or a victim, by at least this share of the wall.
constexpr double kRoleShare = 0.02;
constexpr std::size_t kStallsMax = 6;
// A longer window (30 years) is no window.
constexpr double kWindowMaxUs = 1e15;
using PlaceKey = std::tuple<std::string, std::string, std::string>;  // inside, before, after

std::int64_t MedianOfNs(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

PlaceKey PlaceKeyOf(const RankFacts& facts, const RankHostPiece& piece) {
  return {facts.names[piece.inside], facts.names[piece.before], facts.names[piece.after]};
}

class Teller {
 public:
  Teller(const RankSet& set, const JointTimeline& joint)
      : set_(set),
        joint_(joint),
        more_work_(set, joint),
        scattered_(set.ranks.size(), false),
        extra_(set.ranks.size()) {
    story_.ranks.resize(set.ranks.size());
  }

  JobStory Run() {
    FindWindows();
    base_ = JobBase(set_, joint_, LongestBase(set_));
    TakeBase();
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank)
      LookAtHost(rank);
    FindTick();
    FindLead();
    Judge();
    if (CountsFromLate()) {
      base_ = JobBase(set_, joint_, story_.late_begin_rank);
      TakeBase();
      story_.from_late = true;
      if (!base_.known()) story_.base_ns -= story_.late_begin_ns;
      Judge();
    }
    return std::move(story_);
  }

 private:
  const std::optional<RankFacts>& FactsOf(std::size_t rank) const { return set_.ranks[rank].facts; }

  // All that is of the base.
  void Judge() {
    for (RankStory& of : story_.ranks) {
      of.came_last = of.lost_ns = 0;
      of.lost_by = {};
      of.role = RankRole::kNeither;
    }
    story_.lost_ns = 0;
    story_.stalls.clear();
    story_.levers.clear();
    extra_.assign(set_.ranks.size(), {});
    delays_.clear();
    story_.late_kernels = FindLateKernels(set_, joint_, counts_);
    Blame();
    NameStalls();
    FindLevers();
    FindRoles();
  }

  void TakeBase() {
    story_.base_ns = story_.wall_ns;
    if (base_.known()) {
      const RankLedger& ledger = *set_.ranks[base_.rank()].ledger;
      story_.base_ns = ledger.base_ns;
      story_.base_rank = base_.rank();
      story_.base_count = ledger.count;
      story_.base_unit = ledger.unit;
    }
    counts_.clear();
    for (const JointCollective& one : joint_.collectives)
      counts_.push_back(base_.Has(one.parts[one.last].start_ns));
  }

  // What starvation leaves is short, so that the time before the last rank's beginning matters.
  bool CountsFromLate() const {
    const auto& levers = story_.levers;
    if (levers.empty() || levers.front().kind != LeverKind::kStarvedAll) return false;
    const std::int64_t late = story_.late_begin_ns;
    const std::int64_t left = story_.base_ns - levers.front().saved_ns;
    return late > 0 && late >= left / 10 && late < left;
  }

  void FindWindows() {
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank) {
      RankStory& of = story_.ranks[rank];
      if (const auto& timeline = set_.ranks[rank].timeline)
        of.window_ns = static_cast<std::int64_t>(std::min(timeline->total, kWindowMaxUs) * 1000);
      const RankDigest& digest = set_.ranks[rank];
      if (digest.ledger && digest.steps && digest.ledger->unit == kMarkedStep) {
        story_.step_ns = std::max(story_.step_ns, digest.ledger->unit_ns());
        story_.steps = std::max(story_.steps, static_cast<std::int64_t>(digest.steps->size()));
      }
      const auto& facts = FactsOf(rank);
      if (!facts) continue;
      if (facts->gpu_start_ns) of.window_ns = *facts->gpu_end_ns - *facts->gpu_start_ns;
      if (facts->host_start_ns)
        of.host_ns = std::max<std::int64_t>(0, HostEnd(*facts) - *facts->host_start_ns);
    }
    if (HasFacts(set_)) {
      story_.wall_ns = Replay(set_, joint_, {}).observed_ns;
      const JobEdges edges = FindJobEdges(set_, joint_, story_.wall_ns);
      story_.late_begin_ns = edges.late_begin_ns;
      story_.late_begin_rank = edges.late_begin_rank;
      story_.early_end_ns = edges.early_end_ns;
      story_.early_end_rank = edges.early_end_rank;
    }
    for (const RankStory& of : story_.ranks)
      story_.wall_ns = std::max(story_.wall_ns, of.window_ns);
  }

  // What the host does after the GPU's work delays nobody.
  static std::int64_t HostEnd(const RankFacts& facts) {
    const std::int64_t end = facts.host_end_ns.value_or(0);
    return facts.gpu_end_ns ? std::min(end, *facts.gpu_end_ns) : end;
  }

  // What pieces took beyond the usual, and whether that is all over the place.
  void LookAtHost(std::size_t rank) {
    const auto& facts = FactsOf(rank);
    if (!facts) return;
    std::map<PlaceKey, std::int64_t> places;
    std::int64_t extra = 0;
    std::int64_t times = 0;
    for (const RankHostPiece& piece : facts->pieces) {
      if (!IsUnusual(piece) || piece.place == HostPlace::kMemory) continue;
      if (piece.ts_ns >= HostEnd(*facts)) break;
      const std::int64_t beyond = piece.dur_ns - piece.usual_ns;
      places[PlaceKeyOf(*facts, piece)] += beyond;
      extra += beyond;
      ++times;
    }
    std::int64_t most = 0;
    for (const auto& [place, sum] : places)
      most = std::max(most, sum);
    scattered_[rank] = places.size() >= kScatteredPlaces &&
                       static_cast<double>(most) <= kScatteredShare * static_cast<double>(extra);
    if (!scattered_[rank]) return;
    RankStory& of = story_.ranks[rank];
    of.starved_ns = extra;
    of.starved_times = times;
    of.starved = static_cast<double>(extra) >= kStarvedShare * static_cast<double>(of.host_ns);
    if (of.starved) ++story_.starved_ranks;
  }

  bool IsStarved(std::size_t rank, const RankHostPiece& piece) const {
    return scattered_[rank] && IsUnusual(piece) && piece.place != HostPlace::kMemory;
  }

  void FindTick() {
    std::vector<std::int64_t> starts;
    std::vector<IntervalSet<std::int64_t>> standing(set_.ranks.size());
    std::optional<Interval<std::int64_t>> within;  // what all starving hosts recorded
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank) {
      if (!story_.ranks[rank].starved) continue;
      const RankFacts& facts = *FactsOf(rank);
      const auto at = [&](std::int64_t ns) { return OnCommonClock(set_, joint_, rank, ns); };
      for (const RankHostPiece& piece : facts.pieces) {
        if (!IsStarved(rank, piece)) continue;
        starts.push_back(at(piece.ts_ns));
        standing[rank].push_back({starts.back(), starts.back() + piece.dur_ns});
      }
      standing[rank] = Union(std::move(standing[rank]));
      const Interval<std::int64_t> host{at(*facts.host_start_ns), at(HostEnd(facts))};
      if (!within) within = host;
      within = {std::max(within->start, host.start), std::min(within->end, host.end)};
    }
    story_.tick_ns = TickOf(starts);
    if (story_.starved_ranks == set_.ranks.size() && within)
      story_.standing = CountStanding(standing, *within);
  }

  void FindLead() {
    std::vector<std::vector<std::int64_t>> leads(set_.ranks.size());
    for (const JointCollective& one : joint_.collectives) {
      for (const JointPart& part : one.parts) {
        const auto& facts = FactsOf(part.rank);
        if (!facts || !facts->arrivals[part.call].launch_ns) continue;
        leads[part.rank].push_back(set_.ranks[part.rank].calls[part.call].ts_ns -
                                   *facts->arrivals[part.call].launch_ns);
      }
    }
    for (std::size_t rank = 0; rank < leads.size(); ++rank)
      story_.ranks[rank].lead_ns = MedianOfNs(std::move(leads[rank]));
  }

  void Blame() {
    // Of each rank, when the host issued its collective before.
    std::vector<std::optional<std::int64_t>> issued(set_.ranks.size());
    std::vector<std::optional<std::int64_t>> ended(set_.ranks.size());
    std::vector<std::optional<std::int64_t>> launched(set_.ranks.size());
    for (std::size_t i = 0; i < joint_.collectives.size(); ++i) {
      const JointCollective& one = joint_.collectives[i];
      const JointPart& last = one.parts[one.last];
      if (counts_[i] && HasLast(joint_, one)) {
        RankStory& of = story_.ranks[last.rank];
        ++of.came_last;
        if (i == 0) {
          of.lost_by[static_cast<std::size_t>(LateCause::kStart)] += one.late_ns;
          story_.start_ns = one.skew_ns;
          story_.start_rank = last.rank;
        } else {
          of.lost_ns += one.late_ns;
          story_.lost_ns += one.late_ns;
          const auto& facts = FactsOf(last.rank);
          const auto launch = facts ? facts->arrivals[last.call].launch_ns : std::nullopt;
          if (launch && launch == launched[last.rank]) {
            BlameReplay(i, ended);
          } else {
            BlameOne(i, issued[last.rank], ended[last.rank]);
          }
        }
      }
      for (const JointPart& part : one.parts) {
        const auto& facts = FactsOf(part.rank);
        ended[part.rank] = part.end_ns;
        if (!facts) continue;
        const CollectiveArrival& how = facts->arrivals[part.call];
        const auto at = how.anchor_ns ? how.anchor_ns : how.launch_ns;
        if (at) issued[part.rank] = *at;
        launched[part.rank] = how.launch_ns;
      }
    }
  }

  // Files a part of what a rank was late under its cause, at most what is left of it.
  static std::int64_t File(RankStory* of, LateCause cause, std::int64_t ns, std::int64_t* left) {
    const std::int64_t part = std::clamp<std::int64_t>(ns, 0, *left);
    of->lost_by[static_cast<std::size_t>(cause)] += part;
    *left -= part;
    return part;
  }

  // One launch is of it and of the collective before: a graph is replayed, and the host has no part
  // in what lies between. Durations are of one clock, so that all of what is more counts.
  void BlameReplay(std::size_t which, const std::vector<std::optional<std::int64_t>>& ended) {
    const JointCollective& one = joint_.collectives[which];
    const JointPart& last = one.parts[one.last];
    RankStory& of = story_.ranks[last.rank];
    std::int64_t left = one.late_ns;
    const auto blame = [&](LateCause cause, std::int64_t ns) {
      return File(&of, cause, ns, &left);
    };
    if (const std::int64_t more = blame(LateCause::kCompute, more_work_.Before(which).more_ns);
        more > 0)
      extra_[last.rank][last.call] = more;
    std::vector<std::int64_t> others;
    for (const JointPart& part : one.parts) {
      if (part.rank != last.rank && ended[part.rank]) others.push_back(*ended[part.rank]);
    }
    if (ended[last.rank] && !others.empty())
      blame(LateCause::kBefore, *ended[last.rank] - MedianOfNs(std::move(others)));
    blame(LateCause::kUnknown, left);
  }

  void BlameOne(std::size_t which, std::optional<std::int64_t> issued,
                std::optional<std::int64_t> ended) {
    const JointCollective& one = joint_.collectives[which];
    const JointPart& last = one.parts[one.last];
    RankStory& of = story_.ranks[last.rank];
    std::int64_t left = one.late_ns;
    const auto blame = [&](LateCause cause, std::int64_t ns) {
      return File(&of, cause, ns, &left);
    };
    const auto& facts = FactsOf(last.rank);
    if (!facts) {
      blame(LateCause::kUnknown, left);
      return;
    }
    const WorkSurplus work = more_work_.Before(which);
    if (work.more_ns > joint_.clock_error_ns) {
      extra_[last.rank][last.call] = std::min(work.more_ns, left);
      blame(LateCause::kCompute, work.more_ns);
    }
    const CollectiveArrival& how = facts->arrivals[last.call];
    const auto to = how.anchor_ns ? how.anchor_ns : how.launch_ns;
    if (!to) {
      blame(LateCause::kUnknown, left);
      return;
    }
    std::int64_t from = issued.value_or(*to - one.skew_ns);
    // The host may have lost its lead before the last collective ended.
    if (ended) from = std::min(from, *to - (last.start_ns - *ended));
    BlameHost(*facts, last, one.family, from, *to, &left);
    blame(LateCause::kAhead, work.ahead_ns);
    // What was queued when the GPU came to it did not wait for the host.
    blame(how.anchor_ns ? LateCause::kHost : LateCause::kUnknown, left);
  }

  // Long stretches of the host between two instants, the longest first.
  void BlameHost(const RankFacts& facts, const JointPart& last, CommFamily family,
                 std::int64_t from, std::int64_t to, std::int64_t* left) {
    std::vector<std::pair<std::int64_t, const RankHostPiece*>> found;
    auto piece = std::partition_point(
        facts.pieces.begin(), facts.pieces.end(),
        [&](const RankHostPiece& one) { return one.ts_ns + one.dur_ns <= from; });
    for (; piece != facts.pieces.end() && piece->ts_ns < to; ++piece) {
      const std::int64_t inside =
          std::min(piece->ts_ns + piece->dur_ns, to) - std::max(piece->ts_ns, from);
      found.emplace_back(-inside, &*piece);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [negative, one] : found) {
      const std::int64_t part = std::min(-negative, *left);
      if (part == 0) break;
      const LateCause cause = IsStarved(last.rank, *one)         ? LateCause::kStarved
                              : one->place == HostPlace::kMemory ? LateCause::kMemory
                              : one->place == HostPlace::kEmpty || IsUnusual(*one)
                                  ? LateCause::kStall
                                  : LateCause::kLongOp;
      story_.ranks[last.rank].lost_by[static_cast<std::size_t>(cause)] += part;
      *left -= part;
      if (cause == LateCause::kStarved) continue;
      Delay& delay = delays_[{last.rank, PlaceKeyOf(facts, *one)}];
      delay.late_ns += part;
      delay.families[family] += part;
    }
  }

  void NameStalls() {
    for (const auto& [key, delay] : delays_) {
      const auto& [rank, place] = key;
      HostStall stall;
      stall.rank = rank;
      std::tie(stall.inside, stall.before, stall.after) = place;
      stall.late_ns = delay.late_ns;
      std::int64_t most = 0;
      for (const auto& [family, ns] : delay.families) {
        if (ns > most) std::tie(stall.next, most) = std::pair(family, ns);
      }
      story_.stalls.push_back(std::move(stall));
    }
    std::stable_sort(story_.stalls.begin(), story_.stalls.end(),
                     [](const HostStall& a, const HostStall& b) { return a.late_ns > b.late_ns; });
    if (story_.stalls.size() > kStallsMax) story_.stalls.resize(kStallsMax);
    for (HostStall& stall : story_.stalls)
      Measure(&stall);
  }

  void Measure(HostStall* stall) const {
    MeasureWithin(base_, stall);
    // What delays the first collective of the base may lie before it.
    if (stall->times == 0) MeasureWithin(JobBase(), stall);
  }

  void MeasureWithin(const JobBase& base, HostStall* stall) const {
    const PlaceKey place{stall->inside, stall->before, stall->after};
    const RankFacts& facts = *FactsOf(stall->rank);
    std::vector<std::int64_t> durations;
    for (const RankHostPiece& piece : facts.pieces) {
      if (PlaceKeyOf(facts, piece) != place) continue;
      const std::int64_t end = OnCommonClock(set_, joint_, stall->rank, piece.ts_ns + piece.dur_ns);
      if (!base.Has(end)) continue;
      stall->place = piece.place;
      const std::string& around = facts.names[piece.annotation];
      if (durations.empty()) stall->annotation = around;
      if (stall->annotation != around) stall->annotation.clear();
      stall->shortest_ns =
          durations.empty() ? piece.dur_ns : std::min(stall->shortest_ns, piece.dur_ns);
      stall->longest_ns = std::max(stall->longest_ns, piece.dur_ns);
      durations.push_back(piece.dur_ns);
      stall->total_ns += piece.dur_ns;
    }
    stall->times = static_cast<std::int64_t>(durations.size());
    stall->typical_ns = MedianOfNs(std::move(durations));
  }

  bool Worth(std::int64_t ns) const {
    return static_cast<double>(ns) >= kLeverShare * static_cast<double>(story_.base_ns);
  }

  std::int64_t BaseIn(const Replayed& replayed) const {
    return base_.known() ? replayed.base_ns[story_.base_rank] : replayed.wall_ns;
  }

  void FindLevers() {
    story_.replayed = set_.ranks.size() > 1 && !joint_.collectives.empty() && HasFacts(set_);
    if (!story_.replayed) return;
    const Replayed unedited = Replay(set_, joint_, {});
    story_.replay_error_ns = unedited.wall_ns - story_.wall_ns;
    const auto attempt = [&](JobLever lever, const ReplayEdit& edit) {
      lever.saved_ns = BaseIn(unedited) - BaseIn(Replay(set_, joint_, edit));
      if (Worth(lever.saved_ns)) story_.levers.push_back(std::move(lever));
    };
    for (std::size_t i = 0; i < story_.stalls.size(); ++i) {
      const HostStall& stall = story_.stalls[i];
      if (!Worth(stall.late_ns)) continue;
      const PlaceKey place{stall.inside, stall.before, stall.after};
      attempt({LeverKind::kStall, i, {stall.rank}, 0, {}},
              {[&](std::size_t rank, const RankHostPiece& piece) {
                 if (rank != stall.rank || PlaceKeyOf(*FactsOf(rank), piece) != place)
                   return std::int64_t{0};
                 // Elsewhere such a place is passed faster than anything that is listed.
                 return IsUnusual(piece) ? piece.dur_ns - piece.usual_ns : piece.dur_ns;
               },
               {}});
    }
    StarvationLevers(attempt);
    MemoryLever(attempt);
    BalanceLever(attempt);
    std::stable_sort(story_.levers.begin(), story_.levers.end(),
                     [](const JobLever& a, const JobLever& b) { return a.saved_ns > b.saved_ns; });
  }

  // A rank is named where it stands out by what it has more. Where none does, the lever is of all.
  template <typename Attempt>
  void BalanceLever(const Attempt& attempt) {
    std::vector<Cost> costs(extra_.size());
    std::vector<std::size_t> all;
    bool any = false;
    for (std::size_t rank = 0; rank < extra_.size(); ++rank) {
      for (const auto& [call, ns] : extra_[rank])
        costs[rank].ns += ns;
      costs[rank].times = extra_[rank].size();
      any = any || costs[rank].ns > 0;
      all.push_back(rank);
    }
    if (!any) return;
    const double least = kLeverShare * static_cast<double>(story_.base_ns);
    std::vector<std::size_t> named = StandingOut(costs, least);
    if (named.empty() && !story_.late_kernels.empty()) {
      for (std::size_t i = 0; i < story_.late_kernels.size(); ++i)
        EvenOut(i, all, attempt);
      return;
    }
    if (named.empty()) named = all;
    const std::set<std::size_t> edited(named.begin(), named.end());
    attempt({LeverKind::kBalance, 0, named, 0, KernelOf(named, costs)},
            {{}, [&](std::size_t rank, std::size_t call) {
               const auto found = extra_[rank].find(call);
               return edited.contains(rank) && found != extra_[rank].end() ? found->second : 0;
             }});
  }

  // Work is moved, not dropped: each rank has the mean of it.
  template <typename Attempt>
  void EvenOut(std::size_t kernel, const std::vector<std::size_t>& all, const Attempt& attempt) {
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> more;
    for (const LateKernel::More& one : story_.late_kernels[kernel].more)
      more[{one.rank, one.call}] = one.ns;
    attempt({LeverKind::kBalance, 0, all, 0, kernel}, {{}, [&](std::size_t rank, std::size_t call) {
                                                         const auto found = more.find({rank, call});
                                                         return found == more.end() ? 0
                                                                                    : found->second;
                                                       }});
  }

  // The kernel that most of what these ranks have more is of.
  std::optional<std::size_t> KernelOf(const std::vector<std::size_t>& ranks,
                                      const std::vector<Cost>& costs) const {
    std::int64_t all = 0;
    for (const std::size_t rank : ranks)
      all += costs[rank].ns;
    for (std::size_t i = 0; i < story_.late_kernels.size(); ++i) {
      std::int64_t of_kernel = 0;
      for (const LateKernel::More& one : story_.late_kernels[i].more) {
        if (std::find(ranks.begin(), ranks.end(), one.rank) != ranks.end()) of_kernel += one.ns;
      }
      if (2 * of_kernel > all) return i;
    }
    return std::nullopt;
  }

  template <typename Attempt>
  void StarvationLevers(const Attempt& attempt) {
    if (story_.starved_ranks == 0) return;
    std::vector<std::size_t> late;
    std::vector<std::size_t> all;
    for (std::size_t rank = 0; rank < story_.ranks.size(); ++rank) {
      const RankStory& of = story_.ranks[rank];
      if (of.starved_ns > 0) all.push_back(rank);
      const std::int64_t by = of.lost_by[static_cast<std::size_t>(LateCause::kStarved)];
      if (static_cast<double>(by) >= kRoleShare * static_cast<double>(story_.base_ns))
        late.push_back(rank);
    }
    const auto without = [&](const std::vector<std::size_t>& ranks) {
      return ReplayEdit{
          [this, of = std::set<std::size_t>(ranks.begin(), ranks.end())](
              std::size_t rank, const RankHostPiece& piece) {
            return of.contains(rank) && IsStarved(rank, piece) ? piece.dur_ns - piece.usual_ns : 0;
          },
          {}};
    };
    attempt({LeverKind::kStarvedAll, 0, all, 0, {}}, without(all));
    if (late.empty() || late.size() == all.size()) return;
    const Replayed unedited = Replay(set_, joint_, {});
    // Also where it is nothing: that is what a reader of the table of ranks expects to help.
    story_.levers.push_back({LeverKind::kStarvedLate,
                             0,
                             late,
                             BaseIn(unedited) - BaseIn(Replay(set_, joint_, without(late))),
                             {}});
  }

  template <typename Attempt>
  void MemoryLever(const Attempt& attempt) {
    JobLever lever{LeverKind::kMemory, 0, {}, 0, {}};
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank) {
      const std::vector<RankHostPiece>& pieces = FactsOf(rank)->pieces;
      if (std::any_of(pieces.begin(), pieces.end(),
                      [](const RankHostPiece& one) { return one.place == HostPlace::kMemory; }))
        lever.ranks.push_back(rank);
    }
    if (lever.ranks.empty()) return;
    attempt(std::move(lever), {[](std::size_t, const RankHostPiece& piece) {
                                 return piece.place == HostPlace::kMemory ? piece.dur_ns : 0;
                               },
                               {}});
  }

  void FindRoles() {
    const double least = kRoleShare * static_cast<double>(story_.base_ns);
    std::vector<Cost> costs;
    for (std::size_t rank = 0; rank < story_.ranks.size(); ++rank) {
      costs.push_back(
          {story_.ranks[rank].lost_ns, static_cast<std::size_t>(story_.ranks[rank].came_last)});
    }
    const std::vector<std::size_t> late = StandingOut(costs, least);
    for (std::size_t rank = 0; rank < story_.ranks.size(); ++rank) {
      RankStory& of = story_.ranks[rank];
      const auto lost = static_cast<double>(of.lost_ns);
      const auto waited = static_cast<double>(
          base_.known() ? Length(Intersect(base_.pieces(), joint_.sets[rank].wait))
                        : joint_.ranks[rank].wait_ns);
      const bool stands_out = std::find(late.begin(), late.end(), rank) != late.end();
      if (stands_out && lost * 2 >= waited) {
        of.role = RankRole::kCause;
      } else if (!late.empty() && waited >= least) {
        of.role = RankRole::kVictim;
      }
    }
  }

  struct Delay {
    std::int64_t late_ns = 0;
    std::map<CommFamily, std::int64_t> families;
  };
  const RankSet& set_;
  const JointTimeline& joint_;
  const MoreWork more_work_;
  JobStory story_;
  JobBase base_;
  std::vector<bool> counts_;  // which collectives are of it
  std::vector<bool> scattered_;
  std::vector<std::map<std::size_t, std::int64_t>> extra_;  // GPU work too many, by call
  std::map<std::pair<std::size_t, PlaceKey>, Delay> delays_;
};

}  // namespace

JobStory TellJob(const RankSet& set, const JointTimeline& joint) {
  return Teller(set, joint).Run();
}

}  // namespace jarvis::analysis
