#include "analysis/simulation/hidden_waits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "analysis/simulation/launch_order.h"
#include "analysis/simulation/samples.h"

namespace jarvis::analysis {
namespace {

constexpr double kWindow = 20;  // all lags of one kind of wait lie within so many microseconds
constexpr std::size_t kDrainsMax = 64;

// The end of a work that was the last launched on its stream by then: its queue ran empty.
struct Drain {
  double end;
  std::uint32_t work;
  std::uint32_t next;  // of its stream, or kNoPlace
};

struct Lag {
  std::size_t silence;
  double lag;
  std::uint32_t work;
};

// Probability of at least `count` where `mean` are expected (Poisson).
double Tail(double mean, std::size_t count) {
  double below = 0;
  double log_term = -mean;
  for (std::size_t k = 0; k < count; ++k) {
    below += std::exp(log_term);
    log_term += std::log(std::max(mean, 1e-300)) - std::log(static_cast<double>(k + 1));
  }
  return std::max(0.0, 1 - below);
}

class HiddenWaitFinder {
 public:
  HiddenWaitFinder(const RecordedWork& recorded, const HostPoints& points, const HostWaits& waits,
                   bool clock_moved)
      : recorded_(recorded),
        delays_(waits.return_delays),
        known_(waits.measured >= 3),
        clock_moved_(clock_moved),
        order_(recorded),
        silences_(FindSilences(recorded, points, kShortestSilence)) {}

  std::vector<HiddenWait> Run(const std::vector<HandOver>& hand_overs) {
    if (recorded_.works.empty() || silences_.empty()) return {};
    for (const HandOver& one : hand_overs)
      taken_.emplace(one.silence.thread, one.silence.to);
    CollectDrains();
    FindDrainWaits();
    FindEventWaits();
    return std::move(found_);
  }

 private:
  double LaunchOf(std::uint32_t work) const {
    const std::uint32_t call = recorded_.works[work].call;
    return call == kNoPlace ? std::numeric_limits<double>::lowest() : recorded_.calls[call].begin;
  }

  void CollectDrains() {
    for (std::uint32_t s = 0; s < recorded_.streams.size(); ++s) {
      std::uint32_t last = kNoPlace;
      for (const std::uint32_t work : recorded_.streams[s]) {
        const double end = recorded_.works[work].end;
        if (order_.LastBefore(s, end) != work) continue;
        if (last != kNoPlace) drains_[last].next = work;
        last = static_cast<std::uint32_t>(drains_.size());
        drains_.push_back({end, work, kNoPlace});
      }
    }
    std::sort(drains_.begin(), drains_.end(), [](const Drain& a, const Drain& b) {
      return std::pair(a.end, a.work) < std::pair(b.end, b.work);
    });
  }

  std::size_t DrainsUpTo(double time) const {
    return static_cast<std::size_t>(
        std::upper_bound(drains_.begin(), drains_.end(), time,
                         [](double t, const Drain& drain) { return t < drain.end; }) -
        drains_.begin());
  }

  // The drains that may have ended the silence: each the last of its stream about then.
  std::size_t AddLags(std::size_t n, std::vector<Lag>* lags) const {
    constexpr double kEarly = 100;
    const Silence& silence = silences_[n];
    const std::size_t first = DrainsUpTo(silence.from + 10);
    const std::size_t end = DrainsUpTo(silence.to + kEarly);
    std::size_t inside = DrainsUpTo(silence.to) - std::min(DrainsUpTo(silence.to), first);
    std::size_t looks = 0;
    for (std::size_t at = end; at > first && looks < kDrainsMax; ++looks) {
      const Drain& drain = drains_[--at];
      if (LaunchOf(drain.work) >= silence.to - 1e-6) continue;
      if (drain.end > silence.to) ++inside;
      const bool last = drain.next == kNoPlace ||
                        recorded_.works[drain.next].end > silence.to + kEarly ||
                        LaunchOf(drain.next) >= silence.to - 1e-6;
      if (last) lags->push_back({n, silence.to - drain.end, drain.work});
    }
    return inside;
  }

  // Where the window of lags begins: about the known return of waits, else where most lags lie.
  std::optional<double> WindowStart(std::span<const Lag> lags) const {
    if (known_) return MedianOr(delays_, 0) - (clock_moved_ ? kWindow * 0.75 : kWindow / 2);
    std::vector<double> sorted;
    for (const Lag& lag : lags) {
      if (lag.lag >= -100 && lag.lag <= 150) sorted.push_back(lag.lag);
    }
    std::sort(sorted.begin(), sorted.end());
    std::optional<double> best;
    std::size_t most = 0;
    for (std::size_t i = 0, end = 0; i < sorted.size(); ++i) {
      while (end < sorted.size() && sorted[end] <= sorted[i] + kWindow)
        ++end;
      if (end - i <= most) continue;
      most = end - i;
      best = sorted[i] - 0.5;
    }
    return best;
  }

  void FindDrainWaits() {
    std::vector<Lag> lags;
    std::vector<double> chance(silences_.size(), 0);  // that a drain lies in the window by accident
    double expected = 0;
    for (std::size_t n = 0; n < silences_.size(); ++n) {
      const std::size_t before = lags.size();
      const std::size_t inside = AddLags(n, &lags);
      if (lags.size() == before) continue;
      chance[n] = std::min(1.0, static_cast<double>(inside) * kWindow / silences_[n].length());
      expected += chance[n];
    }
    // A window that was chosen for holding most of them holds more by accident.
    if (!known_) expected *= 8;
    const std::optional<double> start = WindowStart(lags);
    if (!start) return;
    const double width = kWindow * (known_ && clock_moved_ ? 1.5 : 1) + 1;
    std::vector<Lag> hits;
    for (const Lag& lag : lags) {
      if (!hits.empty() && hits.back().silence == lag.silence) continue;
      if (lag.lag >= *start && lag.lag <= *start + width) hits.push_back(lag);
    }
    const bool real = Tail(expected, hits.size()) < 0.01;
    for (const Lag& hit : hits) {
      const Silence& silence = silences_[hit.silence];
      taken_.emplace(silence.thread, silence.to);
      found_.push_back({silence, hit.work, hit.lag, real && chance[hit.silence] < 0.5, true});
    }
  }

  // The work, neither launched in the silence nor ended before it, whose end is just before the
  // silence's.
  std::optional<std::uint32_t> EndedWith(const Silence& silence, double lag_min,
                                         double lag_max) const {
    std::size_t at = order_.EndedBy(silence.to - lag_min);
    for (int looks = 0; at > 0 && looks < 4; ++looks) {
      const std::uint32_t work = order_.by_end()[--at];
      const double end = recorded_.works[work].end;
      if (silence.to - end > lag_max || end < silence.from) break;
      if (recorded_.works[work].call != kNoPlace && LaunchOf(work) > silence.from) continue;
      return work;
    }
    return {};
  }

  void FindEventWaits() {
    constexpr double kShortest = 150;
    double lag_min = std::min(-3.0, Quantile(delays_, 0.1) - 5);
    double lag_max = std::max(20.0, 2 * Quantile(delays_, 0.75) + 12);
    if (clock_moved_) {
      lag_min -= 10;
      lag_max += 10;
    }
    std::vector<double> durations;
    for (const GpuWork& work : recorded_.works)
      durations.push_back(work.duration());
    std::sort(durations.begin(), durations.end());
    const double span =
        std::max(1.0, recorded_.works[order_.by_end().back()].end - recorded_.works.front().start);
    std::vector<Event> events;
    for (const Silence& silence : silences_) {
      if (silence.length() < kShortest || taken_.contains({silence.thread, silence.to})) continue;
      const auto work = EndedWith(silence, lag_min, lag_max);
      if (!work) continue;
      const GpuWork& one = recorded_.works[*work];
      const auto as_long = durations.end() - std::lower_bound(durations.begin(), durations.end(),
                                                              0.5 * one.duration());
      const double chance =
          std::min(1.0, static_cast<double>(as_long) / span * (lag_max - lag_min));
      events.push_back({one.name, silence, *work, silence.to - one.end, chance});
    }
    Accept(std::move(events));
  }

  struct Event {
    StringId name;
    Silence silence;
    std::uint32_t work;
    double lag;
    double chance;
  };

  // Long work that one silence waited for, or the same kernel at the end of several long ones.
  void Accept(std::vector<Event> events) {
    constexpr double kLong = 1000;
    const auto long_silences = static_cast<double>(
        std::count_if(silences_.begin(), silences_.end(),
                      [](const Silence& silence) { return silence.length() >= kLong; }));
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.name < b.name; });
    for (std::size_t first = 0, end = 0; first < events.size(); first = end) {
      double all = 1;
      double least = std::numeric_limits<double>::max();
      double most = std::numeric_limits<double>::lowest();
      int count = 0;
      for (end = first; end < events.size() && events[end].name == events[first].name; ++end) {
        if (events[end].silence.length() < kLong) continue;
        all *= events[end].chance;
        least = std::min(least, events[end].lag);
        most = std::max(most, events[end].lag);
        ++count;
      }
      const bool together = count >= 2 && all * long_silences < 0.01 && most - least <= 30;
      for (std::size_t i = first; i < end; ++i) {
        const Event& event = events[i];
        const bool is_long = event.silence.length() >= kLong;
        const bool alone = event.chance * std::max(1.0, long_silences) < 0.1;
        found_.push_back({event.silence, event.work, event.lag, is_long && (alone || together),
                          event.chance < 0.05});
      }
    }
  }

  const RecordedWork& recorded_;
  const std::vector<double>& delays_;
  const bool known_;
  const bool clock_moved_;
  const LaunchOrder order_;
  const std::vector<Silence> silences_;
  std::set<std::pair<std::uint32_t, double>> taken_;  // threads and ends of explained silences
  std::vector<Drain> drains_;                         // by end
  std::vector<HiddenWait> found_;
};

}  // namespace

std::vector<HiddenWait> FindHiddenWaits(const RecordedWork& recorded, const HostPoints& points,
                                        const HostWaits& waits,
                                        const std::vector<HandOver>& hand_overs, bool clock_moved) {
  return HiddenWaitFinder(recorded, points, waits, clock_moved).Run(hand_overs);
}

}  // namespace jarvis::analysis
