#include "analysis/ranks/rank_replay.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace jarvis::analysis {
namespace {

// A wait returns so much earlier than work that it waited for, as clocks are.
constexpr std::int64_t kReturnClockNs = 5'000;

// Stays within the type, whatever a digest says.
std::int64_t Later(std::int64_t at, std::int64_t by) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(at, by, &sum) ? at : sum;
}

// The host of one rank: observed instants and where they come to lie.
class ReplayHost {
 public:
  ReplayHost(const RankSet& set, const JointTimeline& joint, std::size_t rank,
             const ReplayEdit& edit)
      : set_(set), joint_(joint), rank_(rank), waits_(set.ranks[rank].facts->waits) {
    const RankFacts& facts = *set.ranks[rank].facts;
    for (const RankHostPiece& piece : facts.pieces) {
      const std::int64_t less =
          edit.host ? std::clamp<std::int64_t>(edit.host(rank, piece), 0, piece.dur_ns) : 0;
      if (less > 0) cuts_.push_back({At(piece.ts_ns), At(piece.ts_ns) + piece.dur_ns, less});
    }
    // Time is added up in order.
    taken_.push_back(0);
    for (const Cut& cut : cuts_)
      taken_.push_back(taken_.back() + cut.less);
  }

  // An instant of the trace on the common clock.
  std::int64_t At(std::int64_t trace_ns) const {
    return OnCommonClock(set_, joint_, rank_, trace_ns);
  }

  // What is taken out before an instant.
  std::int64_t Taken(std::int64_t at) const {
    const auto next = std::partition_point(cuts_.begin(), cuts_.end(),
                                           [&](const Cut& cut) { return cut.begin < at; });
    const auto i = static_cast<std::size_t>(next - cuts_.begin());
    if (i == 0) return 0;
    const Cut& last = cuts_[i - 1];
    if (at >= last.end) return taken_[i];
    const double share =
        static_cast<double>(at - last.begin) / static_cast<double>(last.end - last.begin);
    return taken_[i - 1] + static_cast<std::int64_t>(share * static_cast<double>(last.less));
  }

  // Where an instant comes to lie. Instants are asked for in about their order; `gpu` says where
  // the end of a wait comes to lie by the GPU.
  template <typename Gpu>
  std::int64_t Where(std::int64_t at, const Gpu& gpu) {
    while (next_wait_ < waits_.size() && At(waits_[next_wait_].ts_ns) < at) {
      const RankHostWait& wait = waits_[next_wait_++];
      const std::int64_t end = At(wait.ts_ns) + wait.dur_ns;
      if (end > at) {
        // What launched within a call that waits did so on another thread.
        --next_wait_;
        break;
      }
      const std::optional<std::int64_t> by_gpu = gpu(end);
      if (!by_gpu) continue;
      const std::int64_t begin = At(wait.ts_ns);
      delay_ = std::max(begin - Taken(begin) + delay_, *by_gpu) - (end - Taken(end));
    }
    return at - Taken(at) + delay_;
  }

 private:
  struct Cut {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t less;
  };
  const RankSet& set_;
  const JointTimeline& joint_;
  const std::size_t rank_;
  const std::vector<RankHostWait>& waits_;
  std::vector<Cut> cuts_;
  std::vector<std::int64_t> taken_;
  std::size_t next_wait_ = 0;
  std::int64_t delay_ = 0;  // of the host now, beside what was taken out; below 0: it waited less
};

// A matched collective, or a call that no other rank has.
struct Meeting {
  std::vector<JointPart> parts;
  std::int64_t last_start;
};

class Replayer {
 public:
  Replayer(const RankSet& set, const JointTimeline& joint, const ReplayEdit& edit)
      : set_(set), joint_(joint), edit_(edit) {}

  Replayed Run() {
    const std::size_t ranks = set_.ranks.size();
    state_.resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      hosts_.emplace_back(set_, joint_, rank, edit_);
    for (const Meeting& one : Meetings())
      Meet(one);
    std::optional<std::int64_t> first;
    std::optional<std::int64_t> last;
    std::optional<std::int64_t> observed;
    std::vector<std::int64_t> bases(ranks, 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const RankFacts& facts = *set_.ranks[rank].facts;
      if (!facts.gpu_start_ns && !facts.host_start_ns) continue;
      const std::int64_t begin = BeginOf(rank);
      const std::int64_t end = EndOf(rank);
      bases[rank] = BaseOf(rank, end);
      const std::int64_t seen =
          hosts_[rank].At(facts.gpu_end_ns ? *facts.gpu_end_ns : *facts.host_end_ns);
      first = std::min(first.value_or(begin), begin);
      last = std::max(last.value_or(end), end);
      observed = std::max(observed.value_or(seen), seen);
    }
    if (!first) return {0, 0, std::move(bases)};
    return {*last - *first, *observed - *first, std::move(bases)};
  }

 private:
  // The last call of a stream: observed and replayed.
  struct Before {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t new_start = 0;
    std::int64_t new_end = 0;
  };
  struct State {
    std::map<Cell, Before> by_stream;
    std::vector<std::pair<std::int64_t, std::int64_t>> ends;  // observed, replayed; ascending
  };

  std::vector<Meeting> Meetings() const {
    std::vector<std::vector<bool>> matched;
    for (const RankDigest& digest : set_.ranks)
      matched.emplace_back(digest.calls.size(), false);
    std::vector<Meeting> all;
    for (const JointCollective& one : joint_.collectives) {
      for (const JointPart& part : one.parts) {
        matched[part.rank][part.call] = true;
        if (one.buffered) all.push_back({{part}, part.start_ns});  // nobody waits
      }
      if (!one.buffered) all.push_back({one.parts, one.parts[one.last].start_ns});
    }
    for (std::size_t rank = 0; rank < matched.size(); ++rank) {
      const std::vector<CollectiveCall>& calls = set_.ranks[rank].calls;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        if (matched[rank][i] || calls[i].left_out) continue;
        const std::int64_t start = OnCommonClock(set_, joint_, rank, calls[i].ts_ns);
        const std::int64_t end = start + std::min(calls[i].dur_ns, kCallMaxNs);
        all.push_back({{{rank, i, start, end, 0}}, start});
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const Meeting& a, const Meeting& b) {
      return a.last_start < b.last_start;
    });
    return all;
  }

  // Where the GPU's instant `at` comes to lie, counted from the end of the last call before it.
  std::optional<std::int64_t> ByGpu(std::size_t rank, std::int64_t at) const {
    const auto& ends = state_[rank].ends;
    const auto next = std::partition_point(ends.begin(), ends.end(), [&](const auto& one) {
      return one.first <= at + kReturnClockNs;
    });
    if (next == ends.begin()) return std::nullopt;
    const auto& [end, new_end] = *std::prev(next);
    const ReplayHost& host = hosts_[rank];
    return new_end + std::max<std::int64_t>(0, at - end - (host.Taken(at) - host.Taken(end)));
  }

  std::int64_t Where(std::size_t rank, std::int64_t at) {
    return hosts_[rank].Where(at, [&](std::int64_t end) { return ByGpu(rank, end); });
  }

  // When a call, or the GPU's end, comes to be.
  std::int64_t Arrive(std::size_t rank, const CollectiveArrival& how, const Before& before,
                      std::int64_t at, std::int64_t less) {
    const std::int64_t by_gpu =
        std::max(Later(before.new_end, std::max<std::int64_t>(0, how.busy_ns - less)),
                 Later(before.new_start, std::max<std::int64_t>(0, how.compute_ns - less)));
    if (!how.anchor_ns) {
      return std::max(by_gpu,
                      Later(before.new_end, std::max<std::int64_t>(0, at - before.end - less)));
    }
    const std::int64_t launched = Where(rank, hosts_[rank].At(*how.anchor_ns));
    return std::max(by_gpu, Later(launched, how.after_anchor_ns - less));
  }

  // Before the first call of a stream there is the GPU's beginning.
  Before Beginning(std::size_t rank) {
    const std::int64_t start = hosts_[rank].At(*set_.ranks[rank].facts->gpu_start_ns);
    const std::int64_t where = start - hosts_[rank].Taken(start);
    return {start, start, where, where};
  }

  void Meet(const Meeting& one) {
    std::vector<std::int64_t> starts;
    std::int64_t last = 0;
    for (const JointPart& part : one.parts) {
      const RankDigest& digest = set_.ranks[part.rank];
      const Cell& stream = digest.kinds[digest.calls[part.call].kind].known[kStream];
      const auto [found, first] = state_[part.rank].by_stream.try_emplace(stream);
      if (first) found->second = Beginning(part.rank);
      const std::int64_t less = edit_.gpu ? edit_.gpu(part.rank, part.call) : 0;
      starts.push_back(
          Arrive(part.rank, digest.facts->arrivals[part.call], found->second, part.start_ns, less));
      last = starts.size() == 1 ? starts.back() : std::max(last, starts.back());
    }
    for (std::size_t i = 0; i < one.parts.size(); ++i) {
      const JointPart& part = one.parts[i];
      const std::int64_t end = Later(last, std::max<std::int64_t>(0, part.end_ns - one.last_start));
      const RankDigest& digest = set_.ranks[part.rank];
      State& state = state_[part.rank];
      state.by_stream[digest.kinds[digest.calls[part.call].kind].known[kStream]] = {
          part.start_ns, part.end_ns, starts[i], end};
      if (state.ends.empty() || part.end_ns >= state.ends.back().first)
        state.ends.emplace_back(part.end_ns, end);
    }
  }

  std::int64_t BeginOf(std::size_t rank) const {
    const RankFacts& facts = *set_.ranks[rank].facts;
    std::int64_t first = facts.gpu_start_ns ? *facts.gpu_start_ns : *facts.host_start_ns;
    if (facts.host_start_ns) first = std::min(first, *facts.host_start_ns);
    return hosts_[rank].At(first);
  }

  std::int64_t EndOf(std::size_t rank) {
    const RankFacts& facts = *set_.ranks[rank].facts;
    if (!facts.gpu_end_ns) return Where(rank, hosts_[rank].At(*facts.host_end_ns));
    Before before = Beginning(rank);
    for (const auto& [stream, one] : state_[rank].by_stream) {
      if (one.end > before.end) before = one;
    }
    return std::max(before.new_end,
                    Arrive(rank, facts.tail, before, hosts_[rank].At(*facts.gpu_end_ns), 0));
  }

  // `end`: where the rank's end comes to lie.
  std::int64_t BaseOf(std::size_t rank, std::int64_t end) const {
    const auto& ledger = set_.ranks[rank].ledger;
    if (!ledger) return 0;
    std::int64_t sum = 0;
    for (const auto& piece : ledger->base)
      sum += EdgeOf(rank, hosts_[rank].At(piece.end), end) -
             EdgeOf(rank, hosts_[rank].At(piece.start), end);
    return sum;
  }

  // Where an instant comes to lie at which a unit of the rank begins or ends.
  std::int64_t EdgeOf(std::size_t rank, std::int64_t at, std::int64_t end) const {
    const ReplayHost& host = hosts_[rank];
    const RankFacts& facts = *set_.ranks[rank].facts;
    if (facts.gpu_end_ns && at >= host.At(*facts.gpu_end_ns))
      return end + (at - host.At(*facts.gpu_end_ns));
    const auto& ends = state_[rank].ends;
    const auto next = std::partition_point(ends.begin(), ends.end(),
                                           [&](const auto& one) { return one.first <= at; });
    std::int64_t where = at - host.Taken(at);
    if (next != ends.begin()) {
      const auto& [before, new_before] = *std::prev(next);
      where = new_before +
              std::max<std::int64_t>(0, at - before - (host.Taken(at) - host.Taken(before)));
    }
    return std::min(where, next == ends.end() ? end : next->second);
  }

  const RankSet& set_;
  const JointTimeline& joint_;
  const ReplayEdit& edit_;
  std::vector<ReplayHost> hosts_;
  std::vector<State> state_;
};

}  // namespace

bool HasFacts(const RankSet& set) {
  return std::all_of(set.ranks.begin(), set.ranks.end(),
                     [](const RankDigest& digest) { return digest.facts.has_value(); });
}

Replayed Replay(const RankSet& set, const JointTimeline& joint, const ReplayEdit& edit) {
  return Replayer(set, joint, edit).Run();
}

}  // namespace jarvis::analysis
