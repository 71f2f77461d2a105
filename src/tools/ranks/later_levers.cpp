#include "tools/ranks/later_levers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/ranks/lone_rank.h"
#include "tools/ranks/transfer_paths.h"

namespace jarvis::tools {
namespace {

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
  if (time * 200 < job.story.wall_ns || time == 0) return {};
  return {
      {"drop the barriers (`torch.distributed.barrier`) within steps, for which every rank "
       "waits and nothing is exchanged",
       static_cast<double>(time) / 1e6,
       {"",
        "call them around checkpoints and measurements alone; the collectives of a step keep "
        "its ranks in order"}}};
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
  return least && *least >= job.story.wall_ns / kWorthPart ? *least : 0;
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
  return exposed >= job.story.wall_ns / 100 ? exposed : 0;
}

std::vector<LaterLever> TransferLever(const JobView& job, const RankWorkload* workload) {
  const std::int64_t exposed = job.set.ranks.size() > 1 ? ExposedTransfer(job) : 0;
  if (exposed == 0) return {};
  const TransferWays ways = TransferPaths(job, workload);
  return {{"hide the transfers that no computation hides yet, " + BusiestText(job),
           static_cast<double>(exposed) / 1e6, ways.paths, ways.a_part}};
}

std::vector<LaterLever> LaterLevers(const JobView& job, const RankWorkload* workload) {
  std::vector<LaterLever> levers = BarrierLever(job);
  for (LaterLever& lever : TransferLever(job, workload))
    levers.push_back(std::move(lever));
  if (workload == nullptr || job.set.ranks.size() < 2) return levers;
  for (const RankWorkload::Lever& lever : workload->levers)
    levers.push_back({lever.title, lever.gpu_ms, lever.paths, 1});
  return levers;
}

}  // namespace jarvis::tools
