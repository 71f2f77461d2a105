#include "analysis/simulation/host_waits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/simulation/launch_order.h"
#include "analysis/simulation/samples.h"

namespace jarvis::analysis {
namespace {

constexpr double kSlack = 3;  // a wait returns at the earliest so long before what it waited for

class WaitFinder {
 public:
  WaitFinder(const RecordedWork& recorded, bool clock_moved)
      : recorded_(recorded), clock_moved_(clock_moved), order_(recorded) {}

  HostWaits Run() {
    waits_.by_call.resize(recorded_.calls.size());
    last_stream_.assign(recorded_.threads.size(), kNoPlace);
    CountReturns();
    for (std::uint32_t c = 0; c < recorded_.calls.size(); ++c)
      waits_.by_call[c] = Classify(recorded_.calls[c]);
    Measure();
    for (std::uint32_t c = 0; c < recorded_.calls.size(); ++c) {
      if (waits_.by_call[c].kind != WaitKind::kNone) SetCosts(c);
    }
    return std::move(waits_);
  }

 private:
  double EndOf(std::uint32_t work) const { return recorded_.works[work].end; }

  HostWait Classify(const HostCall& call) {
    if (call.works > 0) {
      const std::uint32_t last = recorded_.WorksOf(call).back();
      last_stream_[call.thread] = recorded_.works[last].stream;
      return call.role == CallRole::kCopy ? OfCopy(call, last) : HostWait{};
    }
    switch (call.role) {
      case CallRole::kStreamWait:
      case CallRole::kEventWait: return OfStreamOrEvent(call);
      case CallRole::kDeviceWait:
      case CallRole::kFree: return OfDevice(call);
      case CallRole::kMayWait: return busy_[call.name] > 0 ? HostWait{} : OfDevice(call);
      case CallRole::kStreamOrder: return {};
      default: return OfAnyLongCall(call);
    }
  }

  // An allocation that returns while the device works at what was launched before it waits for
  // nothing; where most of one name do, the others do not either, whatever ended meanwhile.
  void CountReturns() {
    for (const HostCall& call : recorded_.calls) {
      if (call.role != CallRole::kMayWait || call.works > 0) continue;
      const std::uint32_t last = order_.LatestEndBefore(call.begin);
      if (last == kNoPlace || EndOf(last) <= call.begin + 1) continue;
      busy_[call.name] += EndOf(last) > call.end + kSlack ? 1 : -1;
    }
  }

  HostWait OfCopy(const HostCall& call, std::uint32_t copy) const {
    constexpr double kLong = 50;
    const GpuWork& work = recorded_.works[copy];
    const bool is_long = call.duration() > kLong;
    const bool may_wait = call.returns_late || work.pageable || (work.to_host && !work.pinned);
    if (!may_wait && !is_long) return {};
    // A large upload from pageable memory is staged by the host: the call ends a little before it.
    const bool waited = call.end >= work.end - 6 || (work.from_host && is_long);
    if (!waited) return {};
    return {WaitKind::kCopy, copy};
  }

  HostWait OfStreamOrEvent(const HostCall& call) const {
    const std::uint32_t stream = last_stream_[call.thread];
    const std::uint32_t own = stream == kNoPlace ? kNoPlace : order_.LastBefore(stream, call.begin);
    const double early = clock_moved_ ? -20 : -kSlack;
    if (own != kNoPlace && EndOf(own) > call.begin - 5 && call.end - EndOf(own) >= early &&
        call.end - EndOf(own) <= kReturnMax) {
      return {WaitKind::kWait, own};
    }
    if (const auto other = OfOtherStream(call, stream, early)) return {WaitKind::kWait, *other};
    if (call.role == CallRole::kEventWait) {
      // An event may be after any work, not the last of its stream alone.
      const std::uint32_t ended = order_.LastEndedBy(call.end + kSlack);
      if (ended != kNoPlace && call.end - EndOf(ended) <= 40 && EndOf(ended) > call.begin) {
        return {WaitKind::kWait, ended};
      }
    }
    if (own != kNoPlace && EndOf(own) <= call.end + kSlack) return {WaitKind::kNotBinding, own};
    return {};
  }

  // The work that ended last before the call did among the last ones of other streams.
  std::optional<std::uint32_t> OfOtherStream(const HostCall& call, std::uint32_t own_stream,
                                             double early) const {
    constexpr std::size_t kOtherStreamsMax = 256;
    const auto& by_end = order_.by_end();
    std::size_t at = order_.EndedBy(call.end - early);
    for (std::size_t looks = 0; at > 0 && looks < kOtherStreamsMax; ++looks) {
      const std::uint32_t work = by_end[--at];
      const double end = EndOf(work);
      if (end < call.end - kReturnMax || end <= call.begin - 5) break;
      const std::uint32_t stream = recorded_.works[work].stream;
      if (stream != own_stream && order_.LastBefore(stream, call.begin) == work) return work;
    }
    return {};
  }

  HostWait OfDevice(const HostCall& call) {
    const std::uint32_t last = order_.LatestEndBefore(call.begin);
    if (last == kNoPlace) return {};
    const double end = EndOf(last);
    const bool frees = call.role == CallRole::kFree;
    const bool waits_always = frees || call.role == CallRole::kDeviceWait;
    if (end <= call.begin + 1) {
      return waits_always ? HostWait{WaitKind::kNotBinding, last} : HostWait{};
    }
    if (end > call.end + kSlack) return {};
    const double lag = call.end - end;
    const double lag_max = call.role == CallRole::kDeviceWait ? 200 : kReturnMax;
    if (!frees && lag > lag_max) return {};
    HostWait wait{WaitKind::kWait, last};
    AddOthers(call, &wait);
    return wait;
  }

  // The last works of some other streams, those that ended last.
  void AddOthers(const HostCall& call, HostWait* wait) {
    constexpr std::uint32_t kOthersMax = 4;
    constexpr std::size_t kOthersLooks = 64;
    wait->first_other = static_cast<std::uint32_t>(waits_.others.size());
    std::size_t at = order_.EndedBy(EndOf(wait->work));
    for (std::size_t looks = 0; at > 0 && looks < kOthersLooks && wait->others < kOthersMax;
         ++looks) {
      const std::uint32_t work = order_.by_end()[--at];
      const std::uint32_t stream = recorded_.works[work].stream;
      if (stream == recorded_.works[wait->work].stream) continue;
      if (order_.LastBefore(stream, call.begin) != work) continue;
      waits_.others.push_back(work);
      ++wait->others;
    }
  }

  // Other calls wait if work launched before them, that ran when they were half through, ended just
  // before they returned.
  HostWait OfAnyLongCall(const HostCall& call) const {
    constexpr double kLong = 100;
    constexpr double kLagMax = 30;
    if (call.duration() < kLong) return {};
    const std::uint32_t ended = order_.LastEndedBy(call.end + kSlack);
    if (ended == kNoPlace) return {};
    const GpuWork& work = recorded_.works[ended];
    const double half = call.begin + call.duration() / 2;
    if (call.end - work.end > kLagMax || work.end <= half || work.start >= half) return {};
    if (work.call == kNoPlace || recorded_.calls[work.call].begin >= call.begin) return {};
    return {WaitKind::kWait, ended};
  }

  std::uint64_t KeyOf(std::uint32_t c) const {
    const HostWait& wait = waits_.by_call[c];
    const StringId copy =
        wait.kind == WaitKind::kCopy ? recorded_.works[wait.work].name : kNoString;
    return PairKey(recorded_.calls[c].name, copy);
  }

  // What calls cost that had nothing to wait for, and how long they take to return.
  void Measure() {
    for (std::uint32_t c = 0; c < recorded_.calls.size(); ++c) {
      const HostWait& wait = waits_.by_call[c];
      if (wait.kind == WaitKind::kNone) continue;
      const HostCall& call = recorded_.calls[c];
      const double lag = call.end - EndOf(wait.work);
      if (wait.kind == WaitKind::kCopy) {
        returns_.Add(KeyOf(c), lag);
      } else if (wait.kind == WaitKind::kWait && EndOf(wait.work) > call.begin + kSlack) {
        returns_.Add(KeyOf(c), lag);
        if (call.role != CallRole::kFree) waits_.return_delays.push_back(lag);
      } else {
        costs_.Add(KeyOf(c), call.duration());
      }
    }
    returns_.Seal();
    costs_.Seal();
    waits_.measured = returns_.size();
    usual_return_ = MedianOr(returns_.All(), kUsualReturn);
    if (waits_.return_delays.empty()) {
      waits_.return_delays.assign(returns_.All().begin(), returns_.All().end());
    }
    if (waits_.return_delays.empty()) waits_.return_delays = {kUsualReturn};
    std::sort(waits_.return_delays.begin(), waits_.return_delays.end());
  }

  void SetCosts(std::uint32_t c) {
    HostWait& wait = waits_.by_call[c];
    const HostCall& call = recorded_.calls[c];
    const double lag = call.end - EndOf(wait.work);
    double delay = returns_.ClippedMeanOf(KeyOf(c), usual_return_);
    if (wait.kind == WaitKind::kCopy) {
      // The copy itself starts after the call. A much later return is work of the host: staging.
      wait.own_cost = 0;
      wait.return_delay = lag > 2 * delay + 20 ? lag : delay;
      return;
    }
    const bool frees = call.role == CallRole::kFree;
    if (wait.kind == WaitKind::kNotBinding) {
      wait.own_cost = call.duration();
      wait.return_delay =
          std::min(delay, EndOf(wait.work) > call.begin - 50 ? lag : std::max(0.0, usual_return_));
      return;
    }
    const auto costs = costs_.Of(KeyOf(c));
    const double usual = !costs.empty() ? Quantile(costs, 0.25) : frees ? delay : 4;
    if (frees) delay = std::max(delay, 0.0);
    wait.return_delay = delay;
    const bool bound = EndOf(wait.work) > call.begin + kSlack;
    wait.own_cost = bound ? std::min(call.duration(), usual) : call.duration();
  }

  static constexpr double kReturnMax = 120;
  static constexpr double kUsualReturn = 8;

  const RecordedWork& recorded_;
  const bool clock_moved_;
  const LaunchOrder order_;
  HostWaits waits_;
  std::vector<std::uint32_t> last_stream_;  // that a thread launched on
  // By name: how many more calls returned while the device worked than may have waited for it.
  std::unordered_map<StringId, std::int64_t> busy_;
  SampleTable returns_;
  double usual_return_ = kUsualReturn;
  SampleTable costs_;
};

}  // namespace

HostWaits FindHostWaits(const RecordedWork& recorded, bool clock_moved) {
  return WaitFinder(recorded, clock_moved).Run();
}

}  // namespace jarvis::analysis
