#include "analysis/simulation/clock_alignment.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/simulation/samples.h"

namespace jarvis::analysis {
namespace {

struct TimedLag {
  double at;
  double lag;
};

std::vector<double> Sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

// From the call to the start of its work, where the stream had been empty for a while.
std::vector<TimedLag> LaunchLags(const RecordedWork& recorded) {
  constexpr double kIdleMin = 60;
  constexpr double kLagMax = 100;
  std::vector<double> busy_until(recorded.streams.size(), -1);
  std::vector<TimedLag> lags;
  for (const GpuWork& work : recorded.works) {
    double& until = busy_until[work.stream];
    const bool known = until >= 0;
    const double idle = work.start - until;
    until = std::max(until, work.end);
    if (work.call == kNoPlace || !known || idle <= kIdleMin) continue;
    const double lag = work.start - recorded.calls[work.call].begin;
    if (std::abs(lag) < kLagMax) lags.push_back({work.start, lag});
  }
  return lags;
}

// From the end of the awaited work to the return of the call, where the call certainly waited.
std::vector<double> ReturnLags(const RecordedWork& recorded) {
  std::vector<std::pair<double, double>> ends;  // launch, latest end of all launched up to it
  for (const GpuWork& work : recorded.works) {
    if (work.call != kNoPlace) ends.emplace_back(recorded.calls[work.call].begin, work.end);
  }
  std::sort(ends.begin(), ends.end());
  for (std::size_t i = 1; i < ends.size(); ++i)
    ends[i].second = std::max(ends[i].second, ends[i - 1].second);
  std::vector<double> lags;
  for (const HostCall& call : recorded.calls) {
    const bool copy = call.role == CallRole::kCopy && call.works > 0 && call.duration() > 50;
    if (!copy && call.role != CallRole::kDeviceWait && call.role != CallRole::kStreamWait) continue;
    double end = 0;
    if (copy) {
      end = recorded.works[recorded.WorksOf(call).back()].end;
    } else {
      const auto after = std::lower_bound(ends.begin(), ends.end(), std::pair(call.begin, -1.0));
      if (after == ends.begin()) continue;
      end = std::prev(after)->second;
    }
    const double lag = call.end - end;
    if (end > call.begin + 50 && lag > -100 && lag < 200) lags.push_back(lag);
  }
  return Sorted(std::move(lags));
}

// How far to move what starts at a time: by the median of the lags around it, linear in between.
class Drift {
 public:
  Drift(const std::vector<TimedLag>& lags, double wanted) {
    constexpr std::size_t kWindow = 15;
    for (std::size_t i = 0; i < lags.size(); ++i) {
      const std::size_t first = i - std::min(i, kWindow / 2);
      std::vector<double> window;
      for (std::size_t k = first; k < std::min(lags.size(), first + kWindow); ++k)
        window.push_back(lags[k].lag);
      knots_.push_back({lags[i].at, wanted - MedianOr(Sorted(std::move(window)), 0)});
    }
  }

  double At(double time) const {
    const auto after = std::upper_bound(knots_.begin(), knots_.end(), time,
                                        [](double t, const TimedLag& knot) { return t < knot.at; });
    if (after == knots_.begin()) return knots_.front().lag;
    if (after == knots_.end()) return knots_.back().lag;
    const TimedLag& before = *std::prev(after);
    const double width = std::max(1e-9, after->at - before.at);
    return before.lag + (after->lag - before.lag) * (time - before.at) / width;
  }

  double Median() const {
    std::vector<double> shifts;
    for (const TimedLag& knot : knots_)
      shifts.push_back(knot.lag);
    return MedianOr(Sorted(std::move(shifts)), 0);
  }

 private:
  std::vector<TimedLag> knots_;  // time, shift
};

}  // namespace

double AlignClock(RecordedWork* recorded) {
  const std::vector<TimedLag> launches = LaunchLags(*recorded);
  const std::vector<double> returns = ReturnLags(*recorded);
  std::vector<double> lags;
  for (const TimedLag& launch : launches)
    lags.push_back(launch.lag);
  lags = Sorted(std::move(lags));
  const bool returns_early = !returns.empty() && Quantile(returns, 0.25) < -1;
  const double spread = Quantile(lags, 0.75) - Quantile(lags, 0.25);
  const auto move = [&](auto shift) {
    for (GpuWork& work : recorded->works) {
      const double by = shift(work.start);
      work.start += by;
      work.end += by;
    }
    OrderWorks(recorded);
  };
  if (lags.size() < 3 || (lags.size() < 8 && spread > 6)) {
    // Hardly any launch found the GPU idle: the waits alone say how far the clocks are apart.
    if (returns.size() < 2 || !returns_early) return 0;
    constexpr double kUsualReturn = 6;
    const double by = MedianOr(returns, 0) - kUsualReturn;
    move([by](double) { return by; });
    return by;
  }
  if (Quantile(lags, 0.1) >= 2 && !returns_early) return 0;
  const double both = MedianOr(lags, 0) + MedianOr(returns, 10);
  const Drift drift(launches, std::max(4.0, both / 2));
  move([&drift](double time) { return drift.At(time); });
  return drift.Median();
}

}  // namespace jarvis::analysis
