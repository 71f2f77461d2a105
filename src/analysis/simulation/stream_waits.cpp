#include "analysis/simulation/stream_waits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>

#include "analysis/simulation/launch_order.h"
#include "analysis/simulation/samples.h"

namespace jarvis::analysis {
namespace {

constexpr double kTolerance = 2.5;        // a source may seem to end so long after the start
constexpr double kLagMax = 30;            // and so long before it at most
constexpr double kUnexplainedDelay = 20;  // without a call, starts this late ask for a reason
constexpr std::size_t kSourcesMax = 256;

// A call that told a stream to wait, what its thread had launched last, and the last collective
// that any had: a stream that computes waits for its end.
struct Told {
  double at;
  std::uint32_t last_work;
  std::uint32_t collective;
};

class StreamWaitFinder {
 public:
  StreamWaitFinder(const RecordedWork& recorded, const Calibration& calibration,
                   const HostWaits& waits)
      : recorded_(recorded), calibration_(calibration), waits_(waits), order_(recorded) {}

  std::vector<StreamWait> Run() {
    if (recorded_.streams.size() < 2) return {};
    CollectTold();
    for (std::uint32_t work = 0; work < recorded_.works.size(); ++work)
      Examine(work);
    SetDelays();
    return std::move(found_);
  }

 private:
  // A stream is told by the thread that launches on it next; what backward told last is for who
  // launches after it, as nobody else does before its end.
  void CollectTold() {
    struct Pending {
      std::vector<Told> told;
      std::uint32_t last_work = kNoPlace;
    };
    told_of_.assign(recorded_.works.size(), {});
    std::vector<Pending> of_thread(recorded_.threads.size());
    std::vector<Told> of_backward;
    std::uint32_t collective = kNoPlace;
    for (const HostCall& call : recorded_.calls) {
      Pending& own = of_thread[call.thread];
      if (call.role == CallRole::kStreamOrder) {
        const bool backward = recorded_.threads[call.thread].autograd_nodes > 0;
        (backward ? of_backward : own.told).push_back({call.begin, own.last_work, collective});
        continue;
      }
      if (call.works == 0) continue;
      const std::size_t first = told_.size();
      for (std::vector<Told>* told : {&own.told, &of_backward}) {
        told_.insert(told_.end(), told->begin(), told->end());
        told->clear();
      }
      const auto works = recorded_.WorksOf(call);
      told_of_[works.front()] = {first, told_.size()};
      own.last_work = works.back();
      for (const std::uint32_t work : works) {
        if (recorded_.works[work].collective) collective = work;
      }
    }
  }

  std::span<const Told> ToldOf(std::uint32_t work) const {
    return std::span(told_).subspan(told_of_[work].first,
                                    told_of_[work].end - told_of_[work].first);
  }

  // The earliest start by launch and stream, or nothing if neither is known.
  std::optional<double> ReadyAt(std::uint32_t work) const {
    const GpuWork& one = recorded_.works[work];
    std::optional<double> ready;
    if (one.previous != kNoPlace) {
      ready = recorded_.works[one.previous].end + calibration_.GapBefore(work);
    }
    if (one.call != kNoPlace) {
      const HostCall& call = recorded_.calls[one.call];
      const LaunchAnchor anchor =
          calibration_.AnchorOf(work, waits_.by_call[one.call].kind != WaitKind::kNone);
      const double at = (anchor.at_end ? call.end : call.begin) + anchor.delay;
      ready = ready ? std::max(*ready, at) : at;
    }
    return ready;
  }

  void Examine(std::uint32_t work) {
    const GpuWork& one = recorded_.works[work];
    const std::optional<double> ready = ReadyAt(work);
    if (!ready) return;
    const std::span<const Told> told = ToldOf(work);
    const double late = one.start - *ready;
    if (late > (told.empty() ? kUnexplainedDelay : kTolerance)) {
      if (const auto source = SourceOf(work, *ready, told)) {
        const double lag = one.start - recorded_.works[*source].end;
        lags_.Add(one.name, lag);
        found_.push_back({work, *source, lag,
                          told.empty() ? StreamWaitKind::kInferred : StreamWaitKind::kDeclared});
        return;
      }
      if (const auto source = RoomAfter(work, late)) {
        const GpuWork& before = recorded_.works[*source];
        found_.push_back({work, *source, one.start - before.start, StreamWaitKind::kRoom});
        return;
      }
    }
    AddNotBinding(work, told);
  }

  // The end just before the start that came later than all else that the work was ready by.
  std::optional<std::uint32_t> SourceOf(std::uint32_t work, double ready,
                                        std::span<const Told> told) const {
    const GpuWork& one = recorded_.works[work];
    double told_at = std::numeric_limits<double>::lowest();
    for (const Told& call : told)
      told_at = std::max(told_at, call.at);
    std::size_t at = order_.EndedBy(one.start + kTolerance);
    for (std::size_t looks = 0; at > 0 && looks < kSourcesMax; ++looks) {
      const std::uint32_t source = order_.by_end()[--at];
      const GpuWork& other = recorded_.works[source];
      if (one.start - other.end > kLagMax || other.end <= ready - kTolerance) break;
      if (other.stream == one.stream) continue;
      // An event holds only what was launched before it.
      if (!told.empty() && other.call != kNoPlace && !order_.LaunchedBefore(source, told_at)) {
        continue;
      }
      return source;
    }
    return {};
  }

  // Work of another stream that ran for long when this one became late and was nearly done when it
  // started.
  std::optional<std::uint32_t> RoomAfter(std::uint32_t work, double late) const {
    constexpr double kShort = 20;
    const GpuWork& one = recorded_.works[work];
    const auto& by_end = order_.by_end();
    std::size_t at = order_.EndedBy(one.start + kTolerance);
    for (std::size_t looks = 0; at < by_end.size() && looks < kSourcesMax; ++looks, ++at) {
      const GpuWork& other = recorded_.works[by_end[at]];
      const double left = other.end - one.start;
      if (other.stream == one.stream || other.duration() <= kShort) continue;
      if (other.start >= one.start - std::min(20.0, late / 2)) continue;
      if (left <= std::max(15.0, 0.2 * other.duration())) return by_end[at];
    }
    return {};
  }

  void AddNotBinding(std::uint32_t work, std::span<const Told> told) {
    const GpuWork& one = recorded_.works[work];
    std::vector<std::uint32_t> sources;
    for (const Told& call : told) {
      for (const std::uint32_t source : {call.last_work, call.collective}) {
        if (source == kNoPlace || (source == call.collective && one.collective)) continue;
        const GpuWork& other = recorded_.works[source];
        if (other.stream == one.stream || other.end > one.start + kTolerance) continue;
        sources.push_back(source);
      }
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    for (const std::uint32_t source : sources) {
      found_.push_back(
          {work, source, one.start - recorded_.works[source].end, StreamWaitKind::kNotBinding});
    }
  }

  // What is usual for the kernel that waits, or in the trace.
  void SetDelays() {
    constexpr double kUsual = 3;
    constexpr double kOddLag = 25;
    constexpr std::size_t kSamplesMin = 3;
    lags_.Seal();
    const double all = Mean(lags_.All(), kUsual);
    for (StreamWait& wait : found_) {
      if (wait.kind == StreamWaitKind::kRoom) continue;
      const StringId name = recorded_.works[wait.work].name;
      const bool known = lags_.Of(name).size() >= kSamplesMin;
      const double usual = known ? lags_.MeanOf(name, all) : all;
      if (wait.kind == StreamWaitKind::kNotBinding) {
        wait.delay = std::min(usual, wait.delay);
      } else if (known || wait.delay <= kOddLag) {
        wait.delay = usual;
      }
    }
  }

  struct Range {
    std::size_t first = 0;
    std::size_t end = 0;
  };
  const RecordedWork& recorded_;
  const Calibration& calibration_;
  const HostWaits& waits_;
  const LaunchOrder order_;
  std::vector<Told> told_;
  std::vector<Range> told_of_;  // by work: of told_
  SampleTable lags_;            // by name of the kernel that waited
  std::vector<StreamWait> found_;
};

}  // namespace

std::vector<StreamWait> FindStreamWaits(const RecordedWork& recorded,
                                        const Calibration& calibration, const HostWaits& waits) {
  return StreamWaitFinder(recorded, calibration, waits).Run();
}

}  // namespace jarvis::analysis
