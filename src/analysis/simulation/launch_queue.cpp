#include "analysis/simulation/launch_queue.h"

#include <algorithm>
#include <map>

namespace jarvis::analysis {

bool IsSlowLaunch(const HostCall& call, const Calibration& calibration) {
  return call.duration() > std::max(30.0, 5 * calibration.UsualCall(call.name));
}

LaunchQueue FindLaunchQueue(const RecordedWork& recorded, const Calibration& calibration,
                            const HostWaits& waits) {
  constexpr std::uint32_t kShortest = 250;
  constexpr std::uint32_t kHitsMin = 3;
  std::vector<std::uint32_t> launches;  // calls, by begin
  std::vector<double> starts;
  for (std::uint32_t c = 0; c < recorded.calls.size(); ++c) {
    const HostCall& call = recorded.calls[c];
    if (call.works == 0) continue;
    launches.push_back(c);
    starts.push_back(recorded.works[recorded.WorksOf(call).front()].start);
  }
  std::sort(starts.begin(), starts.end());
  std::map<std::int64_t, std::uint32_t> hits;  // by launches outstanding
  std::int64_t most = 0;
  for (std::size_t k = 0; k < launches.size(); ++k) {
    const HostCall& call = recorded.calls[launches[k]];
    if (waits.by_call[launches[k]].kind != WaitKind::kNone) continue;
    const auto started = std::upper_bound(starts.begin(), starts.end(), call.begin);
    const std::int64_t outstanding = static_cast<std::int64_t>(k) - (started - starts.begin());
    most = std::max(most, outstanding);
    if (outstanding >= kShortest && IsSlowLaunch(call, calibration)) ++hits[outstanding];
  }
  LaunchQueue queue;
  queue.room_after.assign(recorded.calls.size(), kNoPlace);
  std::pair<std::int64_t, std::uint32_t> usual{0, 0};
  for (const auto& [outstanding, count] : hits) {
    if (count > usual.second) usual = {outstanding, count};
  }
  if (usual.second < kHitsMin || usual.first < most - 2) return queue;
  queue.length = static_cast<std::uint32_t>(usual.first);
  for (std::size_t k = queue.length; k < launches.size(); ++k) {
    if (waits.by_call[launches[k]].kind != WaitKind::kNone) continue;
    const HostCall& before = recorded.calls[launches[k - queue.length]];
    queue.room_after[launches[k]] = recorded.WorksOf(before).front();
  }
  return queue;
}

}  // namespace jarvis::analysis
