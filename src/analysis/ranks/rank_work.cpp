#include "analysis/ranks/rank_work.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"

namespace jarvis::analysis {

RankKernels FindRankKernels(const trace::EventStore& events,
                            const std::vector<trace::EventIndex>& gpu,
                            const std::vector<trace::EventIndex>& comm) {
  const std::unordered_set<trace::EventIndex> is_comm(comm.begin(), comm.end());
  std::unordered_map<StringId, RankKernel> by_id;
  for (const trace::EventIndex e : gpu) {
    if (is_comm.contains(e)) continue;
    RankKernel& of = by_id[events[e].name];
    ++of.count;
    of.total_ns += events[e].dur_ns;
  }
  // Names that are equal after the cut are one.
  std::map<std::string, RankKernel> by_name;
  for (const auto& [id, of] : by_id) {
    RankKernel& kernel = by_name[std::string(Utf8Prefix(events.strings[id], kKernelNameMax))];
    kernel.count += of.count;
    kernel.total_ns += of.total_ns;
  }
  RankKernels kernels;
  for (auto& [name, of] : by_name)
    kernels.list.push_back({name, of.count, of.total_ns});
  std::stable_sort(
      kernels.list.begin(), kernels.list.end(),
      [](const RankKernel& a, const RankKernel& b) { return a.total_ns > b.total_ns; });
  for (std::size_t i = kRankKernelsMax; i < kernels.list.size(); ++i) {
    kernels.rest.count += kernels.list[i].count;
    kernels.rest.total_ns += kernels.list[i].total_ns;
  }
  if (kernels.list.size() > kRankKernelsMax) kernels.list.resize(kRankKernelsMax);
  return kernels;
}

}  // namespace jarvis::analysis
