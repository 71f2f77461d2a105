#include "tools/ranks/later_levers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/ranks/lone_rank.h"
#include "base/number_text.h"
#include "base/text.h"
#include "tools/ranks/balance_words.h"
#include "tools/ranks/job_figures.h"
#include "tools/ranks/job_kind.h"
#include "tools/ranks/transfer_paths.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kRankLeversMax = 3;
// A change of less than this part of the base is not worth a line.
constexpr double kLineWorthPart = 200;

std::string BusiestText(const JobView& job) {
  const auto family = BusiestFamily(job);
  return family ? "mostly " + std::string(analysis::CommFamilyName(*family))
                : std::string("of collectives");
}

// What every rank spends in barriers.
std::int64_t BarrierTime(const JobView& job) {
  for (const analysis::FamilyTime& family : job.joint.families) {
    if (family.family == analysis::CommFamily::kBarrier && !family.by_rank_ns.empty())
      return *std::min_element(family.by_rank_ns.begin(), family.by_rank_ns.end());
  }
  return 0;
}

// Collectives keep ranks in step already.
std::vector<LaterLever> BarrierLever(const JobView& job) {
  const std::int64_t time = BarrierTime(job);
  if (time * 200 < job.story.base_ns || time == 0) return {};
  return {
      {"drop the barriers (`torch.distributed.barrier`) within steps, for which every rank "
       "waits and nothing is exchanged",
       MillisOf(time),
       {"",
        "call them around checkpoints and measurements alone; the collectives of a step keep "
        "its ranks in order"},
       {.b = {}, .a = MillisOf(time)}}};
}

// What the calls of one kind took beyond what such calls take. Where sizes were not recorded, calls
// of a family may differ, but not by so much.
std::int64_t ExcessOf(const analysis::LoneKind& kind) {
  constexpr std::int64_t kOutlierTimes = 10;
  constexpr std::int64_t kOutlierNs = 50'000'000;
  if (kind.sign) return kind.excess_ns;
  const bool outliers = !kind.bytes && kind.longest_ns >= kOutlierNs &&
                        kind.longest_ns / kOutlierTimes >= kind.median_ns;
  return outliers ? kind.total_ns - kind.calls * kind.median_ns : 0;
}

// What every rank idles by its host, milliseconds.
double LeastIdle(const JobView& job) {
  std::optional<std::int64_t> least;
  for (const analysis::RankDigest& digest : job.set.ranks) {
    const std::int64_t idle = digest.ledger ? digest.ledger->idle_host_ns : 0;
    least = std::min(least.value_or(idle), idle);
  }
  return MillisOf(least.value_or(0));
}

bool HasHostLever(const JobView& job) {
  const auto& levers = job.story.levers;
  return std::any_of(levers.begin(), levers.end(), [](const analysis::JobLever& lever) {
    return lever.kind != analysis::LeverKind::kBalance;
  });
}

// Transfer time without computation beside it. Absent for no time worth it.
std::vector<LaterLever> TransferLever(const JobView& job) {
  constexpr double kSpreadPart = 0.1;
  const std::int64_t exposed = job.set.ranks.size() > 1 ? ExposedTransfer(job) : 0;
  if (exposed == 0) return {};
  TransferWays ways = TransferPaths(job);
  std::string text = "hide the transfers that no computation hides yet, " + BusiestText(job);
  text += fmt::format(" ({} ms exposed", MsText(exposed));
  // What differs between equal calls is neither the bytes nor the link's rate.
  const double spread = SpreadTransfer(job);
  if (!SizesKnown(job) && spread >= kSpreadPart * MillisOf(exposed)) {
    const analysis::LateKernel* load = LoadOfTransfers(job);
    text += fmt::format(
        "; {} if every call were as fast as the fastest of its kind, the other {} {}",
        MsDigits(std::max(0.0, MillisOf(exposed) - spread)), MsDigits(spread),
        load == nullptr
            ? std::string("vary between calls of a kind, no cause recorded")
            : fmt::format("vary mostly with the longest `{}` before them (r {:.2f}): uneven load",
                          OneLine(load->kernel), load->transfer_follows));
  }
  text += ")";
  const double most = std::max(ways.bounds.a.value_or(0), ways.bounds.b.value_or(0));
  return {{std::move(text), std::min(most, MillisOf(exposed)), ways.paths, ways.bounds}};
}

// Next to a loss of most of the time, all else seems to be little.
void ShareWhatIsLeft(const JobView& job, std::vector<JobChange>* changes) {
  constexpr double kMost = 0.5;
  const double base = MillisOf(job.story.base_ns);
  if (changes->empty() || changes->front().at_most || changes->front().ms < kMost * base) return;
  const double left = base - changes->front().ms;
  for (JobChange& change : *changes) {
    if (change.at_most && change.ms > 0 && change.ms <= left) change.of_rest = change.ms / left;
  }
}

}  // namespace

std::int64_t UnseenWait(const JobView& job) {
  constexpr std::int64_t kWorthPart = 10;  // a tenth of the recording
  if (job.set.missing.empty() || job.set.ranks.size() < 2) return 0;
  std::optional<std::int64_t> least;
  for (std::size_t rank = 0; rank < job.set.ranks.size(); ++rank) {
    std::int64_t excess = 0;
    for (const analysis::LoneKind& kind : analysis::LookAtLoneRank(job.set.ranks[rank]))
      excess += ExcessOf(kind);
    excess -= job.joint.ranks[rank].wait_ns + job.joint.ranks[rank].bubble_ns;
    least = std::min(least.value_or(excess), excess);
  }
  return least && *least >= job.story.base_ns / kWorthPart ? *least : 0;
}

std::string MissingVerdict(const JobView& job) {
  const std::int64_t unseen = UnseenWait(job);
  const auto& levers = job.story.levers;
  if (unseen == 0 || (!levers.empty() && levers.front().saved_ns >= unseen)) return {};
  return fmt::format(
      "none of the {} recorded ranks keeps the others waiting, and yet each spends about {} ms in "
      "collectives beyond what such calls take at other times: rank {}, of which there is no "
      "trace, is probably late.",
      job.set.ranks.size(), MsText(unseen), analysis::RankList(job.set.missing));
}

std::int64_t ExposedTransfer(const JobView& job) {
  std::optional<std::pair<std::int64_t, std::int64_t>> least;  // wait, exposed transfer
  for (std::size_t rank = 0; rank < job.set.ranks.size(); ++rank) {
    const auto split = analysis::SplitExposed(job.set, job.joint, rank);
    if (!split) return 0;
    const std::pair one{split->wait_ns + split->bubble_ns,
                        split->transfer_ns + split->unmatched_ns};
    least = least ? std::min(*least, one) : one;
  }
  if (!least) return 0;
  const std::int64_t exposed = least->second - UnseenWait(job) - BarrierTime(job);
  return exposed >= job.story.base_ns / 100 ? exposed : 0;
}

std::vector<LaterLever> LaterLevers(const JobView& job) {
  std::vector<LaterLever> levers = BarrierLever(job);
  for (LaterLever& lever : TransferLever(job))
    levers.push_back(std::move(lever));
  if (job.workload != nullptr && job.set.ranks.size() > 1) {
    std::size_t taken = 0;
    for (const RankWorkload::Lever& lever : job.workload->levers) {
      if (taken == kRankLeversMax) break;
      // What the hosts of a job cost is told by all of them, where anything is.
      if (lever.of_host && HasHostLever(job)) continue;
      const double ms =
          lever.of_host ? std::min(lever.at_most_ms, LeastIdle(job)) : lever.at_most_ms;
      if (ms * kLineWorthPart < MillisOf(job.story.base_ns)) continue;
      const auto capped = [&](std::optional<double> bound) {
        return bound ? std::optional(std::min(*bound, ms)) : bound;
      };
      levers.push_back({"on every rank: " + lever.title,
                        ms,
                        lever.paths,
                        {.b = capped(lever.bounds.b), .a = capped(lever.bounds.a)},
                        std::min(ms, lever.expected_ms)});
      ++taken;
    }
  }
  std::stable_sort(levers.begin(), levers.end(), [](const LaterLever& a, const LaterLever& b) {
    return a.expected_ms.value_or(a.at_most_ms) > b.expected_ms.value_or(b.at_most_ms);
  });
  return levers;
}

std::vector<JobChange> ChangesOf(const JobView& job) {
  std::vector<JobChange> changes;
  for (const analysis::JobLever& lever : job.story.levers) {
    if (lever.kind == analysis::LeverKind::kStarvedLate) continue;
    changes.push_back({LeverText(job, lever),
                       PathsOf(job, lever),
                       MillisOf(lever.saved_ns),
                       false,
                       {},
                       false,
                       MillisOf(lever.saved_ns)});
  }
  const bool later = job.story.starved_ranks > 0 && !changes.empty();
  for (LaterLever& lever : LaterLevers(job)) {
    changes.push_back({std::move(lever.change), std::move(lever.paths), lever.at_most_ms, true,
                       lever.bounds, later, lever.expected_ms.value_or(lever.at_most_ms)});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const JobChange& a, const JobChange& b) {
    return a.expected_ms > b.expected_ms;
  });
  ShareWhatIsLeft(job, &changes);
  return changes;
}

std::vector<std::string> NotTold(const JobView& job) {
  std::vector<std::string> lines;
  const std::int64_t transfer = job.set.ranks.size() > 1 ? ExposedTransfer(job) : 0;
  if (transfer == 0) return lines;
  const bool experts = JobKindOf(job) == JobKind::kExperts;
  if (!SizesKnown(job)) {
    lines.push_back(fmt::format(
        "Sizes of messages and the way they take are not recorded, so how much of the {} ms of "
        "transfer is bandwidth cannot be told. Record next: {}.",
        MsText(transfer),
        experts ? "bytes on NVLink and on the network cards during the same steps (`nvidia-smi "
                  "nvlink -gt d`, counters under /sys/class/infiniband)"
                : "the same with `record_shapes=True` (PyTorch 2.2 or newer)"));
  }
  if (InfersExperts(job)) {
    lines.emplace_back(
        "Tokens per expert are not recorded: that uneven ones make ranks late is inferred from the "
        "kernels' times. Record next: the router's counts of each expert and rank (the engine's "
        "statistics of its experts).");
  }
  return lines;
}

}  // namespace jarvis::tools
