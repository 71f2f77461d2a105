#include "analysis/simulation/launch_queue.h"

#include <algorithm>
#include <map>
#include <utility>

namespace jarvis::analysis {
namespace {

constexpr std::uint32_t kShortest = 250;  // launches: no queue is shorter
constexpr std::uint32_t kHitsMin = 3;
// Of slow launches that return with a start of queued work: so many of all, and so many times as
// many as would by chance.
constexpr double kReturnsLeast = 0.5;
constexpr double kBeyondChance = 3;

// What was put into the queue, in that order.
struct Launch {
  std::uint32_t call = kNoPlace;  // kNoPlace: before the recording
  std::uint32_t work = kNoPlace;  // kNoPlace: it had not begun when the recording ended
};

class QueueFinder {
 public:
  QueueFinder(const RecordedWork& recorded, const Calibration& calibration, const HostWaits& waits)
      : recorded_(recorded), calibration_(calibration), waits_(waits) {}

  LaunchQueue Run() {
    found_.room_after.assign(recorded_.calls.size(), kNoPlace);
    CollectLaunches();
    CountOutstanding();
    ByLength();
    ByReturns();
    return std::move(found_);
  }

 private:
  double StartOf(std::size_t launch) const { return recorded_.works[launches_[launch].work].start; }

  // Work at the head of a stream that no call launched was in the queue when the recording began;
  // launches behind the last that has work were in it when it ended.
  void CollectLaunches() {
    std::vector<std::uint32_t> earlier;
    for (const std::vector<std::uint32_t>& stream : recorded_.streams) {
      for (const std::uint32_t work : stream) {
        if (recorded_.works[work].call != kNoPlace) break;
        earlier.push_back(work);
      }
    }
    std::sort(earlier.begin(), earlier.end());  // works are by start
    for (const std::uint32_t work : earlier)
      launches_.push_back({kNoPlace, work});
    std::uint32_t after = 0;
    for (std::uint32_t c = 0; c < recorded_.calls.size(); ++c) {
      const HostCall& call = recorded_.calls[c];
      if (call.works == 0) continue;
      launches_.push_back({c, recorded_.WorksOf(call).front()});
      after = c + 1;
    }
    for (std::uint32_t c = after; c < recorded_.calls.size(); ++c) {
      const CallRole role = recorded_.calls[c].role;
      if (role == CallRole::kLaunch || role == CallRole::kCopy) launches_.push_back({c, kNoPlace});
    }
    for (std::size_t k = 0; k < launches_.size(); ++k) {
      if (launches_[k].work != kNoPlace) starts_.emplace_back(StartOf(k), k);
    }
    std::sort(starts_.begin(), starts_.end());
  }

  // A launch that may have waited for room.
  bool MayWait(std::size_t k) const {
    const std::uint32_t call = launches_[k].call;
    return call != kNoPlace && waits_.by_call[call].kind == WaitKind::kNone;
  }
  const HostCall& CallOf(std::size_t k) const { return recorded_.calls[launches_[k].call]; }

  // Launches that were in the queue when each one was made.
  void CountOutstanding() {
    for (std::size_t k = 0; k < launches_.size(); ++k) {
      outstanding_.push_back(0);
      if (!MayWait(k)) continue;
      const auto started =
          std::upper_bound(starts_.begin(), starts_.end(), CallOf(k).begin,
                           [](double time, const auto& start) { return time < start.first; });
      outstanding_[k] = static_cast<std::int64_t>(k) - (started - starts_.begin());
      most_ = std::max(most_, outstanding_[k]);
      if (outstanding_[k] >= kShortest && IsSlowLaunch(CallOf(k), calibration_)) slow_.push_back(k);
    }
  }

  // The length at which most launches waited, if it is the greatest there was.
  void ByLength() {
    std::map<std::int64_t, std::uint32_t> hits;
    for (const std::size_t k : slow_)
      ++hits[outstanding_[k]];
    std::pair<std::int64_t, std::uint32_t> usual{0, 0};
    for (const auto& [outstanding, count] : hits) {
      if (count > usual.second) usual = {outstanding, count};
    }
    if (usual.second < kHitsMin || usual.first < most_ - 2) return;
    found_.length = static_cast<std::uint32_t>(usual.first);
    for (std::size_t k = found_.length; k < launches_.size(); ++k) {
      if (MayWait(k)) found_.room_after[launches_[k].call] = launches_[k - found_.length].work;
    }
  }

  // Queues have room by bytes too, so that they are full at several lengths: then a launch returns
  // whenever work begins that was queued long before.
  void ByReturns() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rooms;  // call, work
    for (const std::size_t k : slow_) {
      const std::uint32_t room = found_.room_after[launches_[k].call];
      if (room != kNoPlace && IsReturnAfter(CallOf(k), recorded_.works[room].start)) continue;
      const auto later =
          std::upper_bound(starts_.begin(), starts_.end(), CallOf(k).end + kQueueEarlyMax,
                           [](double time, const auto& start) { return time < start.first; });
      if (later == starts_.begin()) continue;
      const auto& [start, launch] = *std::prev(later);
      if (launch + kShortest <= k && IsReturnAfter(CallOf(k), start))
        rooms.emplace_back(launches_[k].call, launches_[launch].work);
    }
    const auto seen = static_cast<double>(rooms.size());
    const auto all = static_cast<double>(slow_.size());
    if (rooms.size() < kHitsMin || seen < kReturnsLeast * all ||
        seen < kBeyondChance * ByChance() * all)
      return;
    for (const auto& [call, work] : rooms)
      found_.room_after[call] = work;
  }

  // The share of moments at which a call would seem to return with a start.
  double ByChance() const {
    double covered = 0;
    double until = starts_.front().first;
    for (const auto& [start, launch] : starts_) {
      covered += start + kQueueReturnMax - std::max(until, start - kQueueEarlyMax);
      until = start + kQueueReturnMax;
    }
    return covered / std::max(1.0, until - starts_.front().first);
  }

  const RecordedWork& recorded_;
  const Calibration& calibration_;
  const HostWaits& waits_;
  std::vector<Launch> launches_;
  std::vector<std::pair<double, std::size_t>> starts_;  // of work, with its launch
  std::vector<std::int64_t> outstanding_;               // by launch
  std::vector<std::size_t> slow_;                       // launches behind many, by launch
  std::int64_t most_ = 0;
  LaunchQueue found_;
};

}  // namespace

bool IsSlowLaunch(const HostCall& call, const Calibration& calibration) {
  return call.duration() > std::max(30.0, 5 * calibration.UsualCall(call.name));
}

bool IsReturnAfter(const HostCall& call, double room) {
  constexpr double kOfLong = 1e-3;  // of a long wait
  return call.end >= room - kQueueEarlyMax &&
         call.end <= room + std::max(kQueueReturnMax, kOfLong * call.duration());
}

LaunchQueue FindLaunchQueue(const RecordedWork& recorded, const Calibration& calibration,
                            const HostWaits& waits) {
  return QueueFinder(recorded, calibration, waits).Run();
}

}  // namespace jarvis::analysis
