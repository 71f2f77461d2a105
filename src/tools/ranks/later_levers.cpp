#include "tools/ranks/later_levers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tools/ranks/transfer_paths.h"

namespace jarvis::tools {
namespace {

std::string BusiestFamily(const JobView& job) {
  const auto& families = job.joint.families;
  const auto most =
      std::max_element(families.begin(), families.end(),
                       [](const auto& a, const auto& b) { return a.shortest_ns < b.shortest_ns; });
  return most == families.end() ? std::string("of collectives")
                                : "mostly " + std::string(analysis::CommFamilyName(most->family));
}

}  // namespace

std::int64_t ExposedTransfer(const JobView& job) {
  std::optional<std::pair<std::int64_t, std::int64_t>> least;  // wait, exposed transfer
  for (std::size_t rank = 0; rank < job.set.ranks.size(); ++rank) {
    const auto& facts = job.set.ranks[rank].facts;
    if (!facts) return 0;
    const std::int64_t wait = job.joint.ranks[rank].wait_ns;
    const std::pair one{wait, std::max<std::int64_t>(0, facts->exposed_ns - wait)};
    least = least ? std::min(*least, one) : one;
  }
  return least && least->second >= job.story.wall_ns / 100 ? least->second : 0;
}

std::vector<LaterLever> TransferLever(const JobView& job, const RankWorkload* workload) {
  const std::int64_t exposed = job.set.ranks.size() > 1 ? ExposedTransfer(job) : 0;
  if (exposed == 0) return {};
  PathTexts paths = TransferPaths(job, workload);
  paths.a += fmt::format(": at most {} ms", MsText(exposed));
  paths.b += ": a part of that";
  return {{"hide the transfers that no computation hides yet, " + BusiestFamily(job),
           static_cast<double>(exposed) / 1e6, std::move(paths)}};
}

std::vector<LaterLever> LaterLevers(const JobView& job, const RankWorkload* workload) {
  std::vector<LaterLever> levers = TransferLever(job, workload);
  if (workload == nullptr || job.set.ranks.size() < 2) return levers;
  for (const RankWorkload::Lever& lever : workload->levers)
    levers.push_back({lever.title, lever.gpu_ms, lever.paths});
  return levers;
}

}  // namespace jarvis::tools
