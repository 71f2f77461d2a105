#include "findings/one/wall_order.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "findings/one/analysis.h"
#include "findings/one/thresholds.h"
#include "findings/one/wall_classes.h"

namespace jarvis::findings {
namespace {

constexpr double kHiddenTrust = 0.5;  // the middle between nothing and all

// After so many findings are done it saves so much.
struct Shown {
  std::size_t done = 0;
  double ms = 0;
};

// A finding that waits for its place.
struct Next {
  std::size_t at;
  double ms;
  bool known;                     // after all that are done
  double trust = 1;               // TrustIn
  double alone = 0;               // before all others
  std::vector<Shown> shown = {};  // as it was asked
  // What hardly shows before others shows as surely as the host becomes fast.
  double weight() const {
    const bool hidden = known && ms > limits::kShowsAfter * alone;
    return ms * (hidden ? std::min(trust, kHiddenTrust) : trust);
  }
};

class FindingOrder {
 public:
  FindingOrder(const Analysis& analysis, const analysis::Simulation& simulation,
               const std::vector<std::optional<WayOut>>& ways)
      : analysis_(analysis), simulation_(simulation), ways_(ways) {}

  // Once less waits for the host, more shows of all others, so these are asked again; else only
  // what may be next is.
  WallOrder Run() {
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      if (!ways_[i]) continue;
      const Finding& finding = analysis_.findings[i];
      const double alone = BestWall(finding)->ms.mid;
      left_.push_back({i, alone, false, TrustIn(analysis_.wall, finding), alone});
    }
    out_.done = simulation_.Done(*analysis_.wall.given);
    while (!left_.empty()) {
      const auto most = std::ranges::max_element(left_, [&](const Next& a, const Next& b) {
        const double x = a.weight();
        const double y = b.weight();
        return x != y ? x < y : analysis_.findings[a.at].time_ms < analysis_.findings[b.at].time_ms;
      });
      if (!most->known) {
        Ask({&*most, 1});
        continue;
      }
      Take(EasierThan(*Larger(*most)));
    }
    return std::move(out_);
  }

 private:
  using Place = std::vector<Next>::iterator;

  void Take(Place place) {
    const Next taken = *place;
    left_.erase(place);
    const bool spares = SparesHost(analysis_.findings[taken.at]);
    out_.placed.push_back({taken.at, taken.ms, spares, Behind(taken)});
    simulation_.Do(ways_[taken.at]->changes, &out_.done);
    const Finding& finding = analysis_.findings[taken.at];
    if (finding.rule == Pattern::kSmallForGpu) return LeaveGpu();
    const bool host = finding.host != nullptr || finding.tier == Tier::kFusion ||
                      Advises(finding.path_b, Advice::kPinnedCopies);
    if (host) host_done_.push_back(out_.placed.size() - 1);
    for (Next& next : left_) {
      next.known = false;
      if (SparesHost(analysis_.findings[next.at])) next.ms = std::max(next.ms, next.alone);
    }
    if (host) Ask(left_);
  }

  // Without the GPU there is nothing left of what is about its work, or about feeding it.
  void LeaveGpu() {
    std::ranges::stable_sort(left_, [](const Next& a, const Next& b) { return a.alone > b.alone; });
    for (const Next& next : left_)
      out_.placed.push_back({next.at, 0, false, std::nullopt});
    left_.clear();
  }

  void Ask(std::span<Next> some) {
    std::vector<std::vector<analysis::Change>> changes;
    for (const Next& next : some)
      changes.push_back(ways_[next.at]->changes);
    const std::vector<double> saved_ms = simulation_.SavedAfter(out_.done, changes);
    for (std::size_t k = 0; k < some.size(); ++k) {
      some[k].ms = std::clamp(saved_ms[k], 0.0, CapOfFinding(some[k].at));
      some[k].known = true;
      some[k].shown.push_back({out_.placed.size(), some[k].ms});
    }
  }

  // The last finding about the host that was done before most of what it saves showed.
  std::optional<std::size_t> Behind(const Next& taken) const {
    constexpr double kMost = 0.5;
    if (taken.alone >= kMost * taken.ms) return std::nullopt;
    for (const Shown& one : taken.shown) {
      if (one.ms < kMost * taken.ms) continue;
      const auto after = std::ranges::lower_bound(host_done_, one.done);
      if (after != host_done_.begin()) return *std::prev(after);
      return std::nullopt;
    }
    return std::nullopt;
  }

  // At most, once others are done.
  double CapOfFinding(std::size_t at) {
    if (auto known = caps_.find(at); known != caps_.end()) return known->second;
    const analysis::GivenChanges& given = *analysis_.wall.given;
    const double cap = std::min(analysis_.wall.wall_ms, CapOf(simulation_, given, *ways_[at]));
    caps_.emplace(at, cap);
    return cap;
  }

  // Where the host binds, what it can be spared goes before faster GPU work that saves hardly more:
  // much of the latter shows only once the host is fast, and the model stays as it is.
  Place EasierThan(const Next& most) {
    const auto itself = left_.begin() + (&most - left_.data());
    const bool host_binds = analysis_.wall.host_floor_ms > analysis_.wall.gpu_floor_ms;
    const Finding& first = analysis_.findings[most.at];
    if (!host_binds || SparesHost(first) || first.wall_b) return itself;
    const double least = limits::kEasierWay * most.weight();
    for (auto one = left_.begin(); one != left_.end(); ++one) {
      const Finding& finding = analysis_.findings[one->at];
      if (one == itself || !finding.host || !finding.wall_b) continue;
      if (one->weight() < least) continue;
      if (!one->known) Ask({&*one, 1});
      if (one->weight() >= least && one->ms > 0) return one;
    }
    return itself;
  }

  // What is shown of it.
  Range RangeOf(const Next& next) const {
    return AfterOthers(BestWall(analysis_.findings[next.at])->ms, next.ms);
  }

  // A row that is larger at both ends never stands below a smaller one, whatever their middles are.
  Place Larger(const Next& most) {
    auto best = left_.begin() + (&most - left_.data());
    const auto above = [&](const Next& one) {
      const Range a = RangeOf(one), b = RangeOf(*best);
      return a.low > b.low && a.high > b.high;
    };
    for (auto one = left_.begin(); one != left_.end(); ++one) {
      if (one == best || !above(*one)) continue;
      if (!one->known) Ask({&*one, 1});
      if (above(*one)) best = one;
    }
    return best;
  }

  const Analysis& analysis_;
  const analysis::Simulation& simulation_;
  const std::vector<std::optional<WayOut>>& ways_;
  std::vector<Next> left_;
  std::vector<std::size_t> host_done_;  // places of findings that spare the host
  std::map<std::size_t, double> caps_;
  WallOrder out_;
};

}  // namespace

WallOrder OrderFindings(const Analysis& analysis, const analysis::Simulation& simulation,
                        const std::vector<std::optional<WayOut>>& ways) {
  return FindingOrder(analysis, simulation, ways).Run();
}

}  // namespace jarvis::findings
