#include "analysis/simulation/launch_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace jarvis::analysis {

LaunchOrder::LaunchOrder(const RecordedWork& recorded) : recorded_(recorded) {
  const auto by_launch = [](const Launch& a, const Launch& b) { return a.at < b.at; };
  streams_.resize(recorded.streams.size());
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    for (const std::uint32_t work : recorded.streams[s])
      streams_[s].push_back({LaunchOf(work), work});
    std::stable_sort(streams_[s].begin(), streams_[s].end(), by_launch);
    latest_.insert(latest_.end(), streams_[s].begin(), streams_[s].end());
  }
  std::stable_sort(latest_.begin(), latest_.end(), by_launch);
  const auto& works = recorded.works;
  for (std::size_t i = 1; i < latest_.size(); ++i) {
    const std::uint32_t before = latest_[i - 1].work;
    if (works[before].end > works[latest_[i].work].end) latest_[i].work = before;
  }
  by_end_.resize(works.size());
  std::iota(by_end_.begin(), by_end_.end(), 0u);
  std::sort(by_end_.begin(), by_end_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(works[a].end, a) < std::tie(works[b].end, b);
  });
  ends_.reserve(works.size());
  for (const std::uint32_t work : by_end_)
    ends_.push_back(works[work].end);
}

double LaunchOrder::LaunchOf(std::uint32_t work) const {
  const std::uint32_t call = recorded_.works[work].call;
  return call == kNoPlace ? std::numeric_limits<double>::lowest() : recorded_.calls[call].begin;
}

bool LaunchOrder::LaunchedBefore(std::uint32_t work, double time) const {
  return LaunchOf(work) < time;
}

std::uint32_t LaunchOrder::LastBefore(std::uint32_t stream, double time) const {
  const auto& launches = streams_[stream];
  const auto after = std::lower_bound(launches.begin(), launches.end(), time,
                                      [](const Launch& launch, double t) { return launch.at < t; });
  return after == launches.begin() ? kNoPlace : std::prev(after)->work;
}

std::uint32_t LaunchOrder::LatestEndBefore(double time) const {
  const auto after = std::lower_bound(latest_.begin(), latest_.end(), time,
                                      [](const Launch& launch, double t) { return launch.at < t; });
  return after == latest_.begin() ? kNoPlace : std::prev(after)->work;
}

std::size_t LaunchOrder::EndedBy(double time) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), time) -
                                  ends_.begin());
}

std::uint32_t LaunchOrder::LastEndedBy(double time) const {
  const std::size_t count = EndedBy(time);
  return count == 0 ? kNoPlace : by_end_[count - 1];
}

}  // namespace jarvis::analysis
