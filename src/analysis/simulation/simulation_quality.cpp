#include "analysis/simulation/simulation_quality.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/simulation/hidden_waits.h"

namespace jarvis::analysis {
namespace {

// There to wait for the GPU.
bool IsWait(CallRole role) {
  return role == CallRole::kDeviceWait || role == CallRole::kStreamWait ||
         role == CallRole::kEventWait;
}

bool MayWait(const HostCall& call) {
  switch (call.role) {
    case CallRole::kDeviceWait:
    case CallRole::kStreamWait:
    case CallRole::kEventWait:
    case CallRole::kFree:
    case CallRole::kMayWait:
    case CallRole::kCopy:
    case CallRole::kLaunch: return true;
    case CallRole::kStreamOrder:
    case CallRole::kRecordEvent:
    case CallRole::kOther: break;
  }
  return false;
}

// How long the GPU had been busy by a time.
class BusyClock {
 public:
  explicit BusyClock(const RecordedWork& recorded) {
    std::vector<Interval<double>> times;
    for (const GpuWork& work : recorded.works)
      times.push_back({work.start, work.end});
    busy_ = Union(std::move(times));
    double sum = 0;
    for (const Interval<double>& piece : busy_) {
      before_.push_back(sum);
      sum += piece.end - piece.start;
    }
  }

  double At(double time) const {
    const auto after =
        std::upper_bound(busy_.begin(), busy_.end(), time,
                         [](double t, const Interval<double>& piece) { return t < piece.start; });
    if (after == busy_.begin()) return 0;
    const auto last = static_cast<std::size_t>(after - busy_.begin()) - 1;
    return before_[last] + std::min(time, busy_[last].end) - busy_[last].start;
  }

 private:
  IntervalSet<double> busy_;
  std::vector<double> before_;  // busy time before each piece
};

}  // namespace

MatchedWaits MatchWaits(const RecordedWork& recorded, const HostWaits& waits,
                        const LaunchQueue& queue) {
  constexpr double kUnexplained = 100;
  const BusyClock busy(recorded);
  MatchedWaits matched;
  for (std::uint32_t c = 0; c < recorded.calls.size(); ++c) {
    const HostCall& call = recorded.calls[c];
    const HostWait& wait = waits.by_call[c];
    if (wait.kind != WaitKind::kNone) {
      double waited = 0;
      if (wait.kind != WaitKind::kNotBinding) {
        waited = std::clamp(recorded.works[wait.work].end - call.begin, 0.0, call.duration());
      }
      const double own = std::max(wait.own_cost, waited > 0 ? wait.return_delay : wait.own_cost);
      const double rest = call.duration() - waited - own;
      matched.matched_us += waited;
      matched.waited_us += waited + (rest > kUnexplained ? rest : 0);
    } else if (call.duration() > kUnexplained && MayWait(call)) {
      const bool queued = queue.room_after[c] != kNoPlace;
      // A launch or an allocation waits for work that runs, or does something else: loads code.
      const bool is_wait = queued || IsWait(call.role);
      const double waited = is_wait ? call.duration() : busy.At(call.end) - busy.At(call.begin);
      matched.waited_us += waited;
      if (queued) matched.matched_us += waited;
    }
  }
  return matched;
}

double SilentWhileBusy(const RecordedWork& recorded, const DependencyGraph& graph) {
  const BusyClock busy(recorded);
  double silent = 0;
  for (std::size_t t = 0; t < recorded.threads.size(); ++t) {
    const HostThread& thread = recorded.threads[t];
    if (thread.launches == 0) continue;
    std::set<double> wakes;
    for (const std::uint32_t node : graph.threads[t]) {
      if (graph.kinds[node] == NodeKind::kWake) wakes.insert(graph.observed[node] + graph.start);
    }
    for (std::size_t i = 1; i < thread.activity.size(); ++i) {
      Interval<double> silence{thread.activity[i - 1], thread.activity[i]};
      if (silence.end - silence.start < kShortestSilence || wakes.contains(silence.end)) continue;
      // A call is no silence.
      const auto after = std::upper_bound(
          thread.in_calls.begin(), thread.in_calls.end(), silence.start + 1e-6,
          [](double time, const Interval<double>& call) { return time < call.start; });
      if (after != thread.in_calls.begin()) {
        silence.start = std::clamp(std::prev(after)->end, silence.start, silence.end);
      }
      if (silence.end - silence.start < kShortestSilence) continue;
      silent += busy.At(silence.end) - busy.At(silence.start);
    }
  }
  return silent;
}

std::vector<std::uint32_t> PathNodes(const DependencyGraph& graph, const Delays& delays,
                                     const std::vector<double>& times) {
  std::vector<std::uint32_t> nodes;
  if (times.empty()) return nodes;
  auto node =
      static_cast<std::uint32_t>(std::max_element(times.begin(), times.end()) - times.begin());
  while (node != 0) {
    nodes.push_back(node);
    const std::uint32_t edge = BindingEdge(graph, delays, times, node);
    if (edge == kNoPlace) break;
    node = graph.edges[edge].from;
  }
  return nodes;
}

}  // namespace jarvis::analysis
