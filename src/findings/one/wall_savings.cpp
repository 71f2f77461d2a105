#include "findings/one/wall_savings.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "findings/one/analysis.h"
#include "findings/one/estimates.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using Changes = std::vector<analysis::Change>;

// A way out as the simulation is asked: its middle, and how far its ends are from that.
struct WayOut {
  Changes changes;
  double low_part = 1;   // of the middle's GPU time: what is sure
  double high_part = 1;  // what is possible
};

double PartOf(double saved_ms, double time_ms) {
  return time_ms > 0 ? std::clamp(saved_ms / time_ms, 0.0, 1.0) : 0;
}

bool HasWay(const std::vector<Remedy>& path) {
  return !path.empty() && path.front().advice != Advice::kNoneKnown;
}

class WallAsker {
 public:
  WallAsker(const trace::EventStore& events, const analysis::Simulation& simulation,
            ProfilerShare profiler, Analysis* analysis)
      : events_(events),
        simulation_(simulation),
        analysis_(*analysis),
        unrecorded_ms_(profiler.unrecorded_ms) {
    if (!profiler.artefact.empty())
      first_ = {analysis::RemoveProfilerCost{std::move(profiler.artefact)}};
    if (!profiler.most.empty()) most_ = {analysis::RemoveProfilerCost{std::move(profiler.most)}};
  }

  void Run() {
    Base();
    if (!analysis_.wall.known) return;
    std::vector<std::optional<WayOut>> best;
    for (std::size_t i = 0; i < analysis_.findings.size(); ++i)
      best.push_back(static_cast<double>(i) < limits::kFindingsAsked
                         ? AskBoth(&analysis_.findings[i])
                         : std::nullopt);
    Order(&best);
    InOrder(best);
    LeaveOut();
  }

 private:
  bool Shows(double ms) const { return ms >= limits::kHostShareMin / 100 * analysis_.wall.wall_ms; }

  void Base() {
    WallBase& wall = analysis_.wall;
    const analysis::SimulationQuality& quality = simulation_.quality();
    if (simulation_.empty()) {
      wall.why_not = "The trace has no launches, so what waits for what is not known.";
      return;
    }
    wall.known = quality.refusal.empty();
    wall.why_not = quality.refusal;
    wall.range_only = quality.range_only;
    wall.recorded_ms = quality.wall_ms;
    wall.wall_ms = quality.wall_ms - unrecorded_ms_;
    wall.host_floor_ms = simulation_.host_floor_ms();
    wall.gpu_floor_ms = simulation_.gpu_floor_ms();
    wall.replay_error_percent = quality.replay_error_percent;
    wall.matched_waits_percent = quality.matched_waits_percent;
    wall.opaque_percent = quality.opaque_percent;
    if (!wall.known) return;
    if (!most_.empty()) most_saved_ = simulation_.WhatIf(most_).saved_ms;
    if (first_.empty()) return;
    first_saved_ = simulation_.WhatIf(first_).saved_ms;
    if (first_saved_ < limits::kProfilerShare / 100 * quality.wall_ms) {
      first_.clear();
      first_saved_ = 0;
      return;
    }
    wall.wall_ms -= first_saved_;
    wall.profiler_ms = first_saved_;
  }

  // Of a path's remedies: what they do to the operations' GPU work, as the finding estimates it.
  std::optional<WayOut> OfEstimate(const Finding& finding) const {
    if (!finding.savings_ms || finding.savings_ms->mid <= 0) return std::nullopt;
    analysis::ScaleGpu scale;
    const auto take = [&](const std::vector<trace::EventIndex>& gpu, double part) {
      if (part <= 0) return;
      scale.events.insert(scale.events.end(), gpu.begin(), gpu.end());
      scale.factors.insert(scale.factors.end(), gpu.size(), 1 - part);
    };
    for (const std::string& member : finding.members) {
      if (finding.tier == Tier::kFusion) {
        for (const FusionCandidate& candidate : analysis_.fusion.candidates) {
          if (candidate.id == member && candidate.savings_ms)
            take(candidate.gpu, PartOf(candidate.savings_ms->mid, candidate.total_us / 1000));
        }
      } else if (const Operation* operation = analysis_.FindOperation(member)) {
        if (operation->savings_ms)
          take(operation->gpu, PartOf(operation->savings_ms->mid, operation->gpu_us / 1000));
      }
    }
    if (finding.category == "multi_kernel") take(MovingWork(finding), MovedPart(finding));
    if (scale.events.empty()) return std::nullopt;
    return WayOut{{std::move(scale)},
                  finding.savings_ms->low / finding.savings_ms->mid,
                  finding.savings_ms->high / finding.savings_ms->mid};
  }

  // The work that a finding about communication or copies is about.
  std::vector<trace::EventIndex> MovingWork(const Finding& finding) const {
    const bool communication = finding.subject == "communication";
    std::vector<trace::EventIndex> found;
    for (const analysis::GpuWork& work : simulation_.recorded().works) {
      const trace::EventKind kind = events_[work.event].kind;
      const std::string_view name = events_.name(work.event);
      const bool fits = communication
                            ? analysis::ClassOf(kind, name, analysis::Communicators::kAll) ==
                                  analysis::WorkClass::kCommunication
                            : kind == trace::EventKind::kMemcpy &&
                                  finding.subject.starts_with(DirectionText(DirectionOf(name)));
      if (fits) found.push_back(work.event);
    }
    return found;
  }
  // Of what nothing hides: the part that other work hides already costs no time.
  static double MovedPart(const Finding& finding) {
    return PartOf(finding.savings_ms->mid, finding.exclusive_ms);
  }

  // Alone, on top of leaving the profiler out.
  WallSaving Ask(const WayOut& way) const {
    Changes changes = first_;
    changes.insert(changes.end(), way.changes.begin(), way.changes.end());
    const analysis::Outcome outcome = simulation_.WhatIf(changes);
    const auto alone = [&](double saved) { return std::max(0.0, saved - first_saved_); };
    WallSaving saving;
    saving.ms = {alone(outcome.low_ms) * way.low_part, alone(outcome.saved_ms),
                 alone(outcome.high_ms) * way.high_part};
    saving.ms.low = std::min(saving.ms.low, saving.ms.mid);
    saving.ms.high = std::min(std::max(saving.ms.high, saving.ms.mid), analysis_.wall.wall_ms);
    return saving;
  }

  // What the host takes is inflated by recording it: the least saving is that of a host without.
  WallSaving AskOfHost(const WayOut& way) const {
    WallSaving saving = Ask(way);
    if (most_.empty()) return saving;
    Changes changes = most_;
    changes.insert(changes.end(), way.changes.begin(), way.changes.end());
    const double least = std::max(0.0, simulation_.WhatIf(changes).saved_ms - most_saved_);
    saving.ms.low = std::min(saving.ms.low, least);
    return saving;
  }

  // Of a path that has a target of its own.
  WayOut OfChange(const Change& change) const {
    analysis::ScaleGpu scale;
    analysis::RemoveGpu remove;
    for (const Change::Part& part : change.parts) {
      const double rest = 1 - std::clamp(part.saved_part.mid, 0.0, 1.0);
      // What stays of a chain takes the time of the whole.
      double all_us = 0, gone_us = 0;
      for (const trace::EventIndex e : part.gpu)
        all_us += trace::MicrosOf(events_[e].dur_ns);
      const std::set<trace::EventIndex> gone(part.gone.begin(), part.gone.end());
      for (const trace::EventIndex e : gone)
        gone_us += trace::MicrosOf(events_[e].dur_ns);
      const double longer = all_us > gone_us ? all_us / (all_us - gone_us) : 1;
      for (const trace::EventIndex e : part.gpu) {
        if (gone.contains(e)) continue;
        scale.events.push_back(e);
        scale.factors.push_back(rest * longer);
      }
      remove.events.insert(remove.events.end(), gone.begin(), gone.end());
    }
    WayOut way{{std::move(scale)}, 1, 1};
    if (!remove.events.empty()) way.changes.emplace_back(std::move(remove));
    if (change.savings_ms.mid > 0) {
      way.low_part = change.savings_ms.low / change.savings_ms.mid;
      way.high_part = change.savings_ms.high / change.savings_ms.mid;
    }
    return way;
  }

  // Both ways; returns the one that saves more.
  std::optional<WayOut> AskBoth(Finding* finding) const {
    if (finding->host != nullptr) {
      const WayOut way{finding->host->changes, 1, 1};
      finding->wall_a = AskOfHost(way);
      // Host time that goes saves no more than itself; the range is of what comes after it.
      if (finding->host->kind != HostCauseKind::kLaunchBound &&
          finding->host->kind != HostCauseKind::kWaits) {
        for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
          finding->wall_a->ms.*part = std::min(finding->wall_a->ms.*part, finding->time_ms);
      }
      finding->savings_ms = finding->wall_a->ms;
      finding->impact_percent = Scaled(finding->wall_a->ms, 100 / analysis_.wall.recorded_ms);
      // A server's setting is Path B.
      if (!HasWay(finding->path_a) && HasWay(finding->path_b))
        std::swap(finding->wall_a, finding->wall_b);
      return way;
    }
    // A rule's row has words for its paths; elsewhere a path without a way out saves nothing.
    const bool ruled = finding->rule.has_value();
    if (finding->change_a || finding->change_b) {
      std::optional<WayOut> a, b;
      if (finding->change_a && (ruled || HasWay(finding->path_a)))
        finding->wall_a = Ask(*(a = OfChange(*finding->change_a)));
      if (finding->change_b && (ruled || HasWay(finding->path_b)))
        finding->wall_b = Ask(*(b = OfChange(*finding->change_b)));
      if (!a && !b) return std::nullopt;
      const bool first = a && (!b || finding->wall_a->ms.mid >= finding->wall_b->ms.mid);
      return first ? a : b;
    }
    const std::optional<WayOut> way = OfEstimate(*finding);
    if (!way) return std::nullopt;
    const WallSaving saving = Ask(*way);
    if (HasWay(finding->path_a)) finding->wall_a = saving;
    if (HasWay(finding->path_b)) finding->wall_b = saving;
    return finding->wall_a || finding->wall_b ? way : std::nullopt;
  }

  // Where the profiler held the host up visibly, what the host would save is doubtful up to all of
  // what profiling may have cost: its middle is between.
  double RankedBy(const Finding& finding, const WallSaving* best) const {
    if (best == nullptr) return -1;
    if (finding.host == nullptr || first_.empty()) return best->ms.mid;
    return (best->ms.low + best->ms.mid) / 2;
  }

  // By wall time; `best` goes with the findings.
  void Order(std::vector<std::optional<WayOut>>* best) {
    std::vector<std::size_t> order(analysis_.findings.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const WallSaving* x = BestWall(analysis_.findings[a]);
      const WallSaving* y = BestWall(analysis_.findings[b]);
      return RankedBy(analysis_.findings[a], x) > RankedBy(analysis_.findings[b], y);
    });
    std::vector<Finding> findings;
    std::vector<std::optional<WayOut>> ways;
    for (const std::size_t i : order) {
      findings.push_back(std::move(analysis_.findings[i]));
      ways.push_back(std::move((*best)[i]));
    }
    analysis_.findings = std::move(findings);
    *best = std::move(ways);
  }

  // What each adds to those before it; what shows only then is said so.
  void InOrder(const std::vector<std::optional<WayOut>>& best) {
    std::vector<Changes> lists = {first_};
    std::vector<std::size_t> asked;
    Changes all = first_;
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (!best[i]) continue;
      asked.push_back(i);
      lists.push_back(best[i]->changes);
      all.insert(all.end(), best[i]->changes.begin(), best[i]->changes.end());
    }
    if (asked.empty()) return;
    const std::vector<double> saved_ms = simulation_.SavedInOrder(lists);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      Finding& finding = analysis_.findings[asked[k]];
      const double after = saved_ms[k + 1];
      for (std::optional<WallSaving>* saving : {&finding.wall_a, &finding.wall_b}) {
        if (*saving) (*saving)->after_others_ms = after;
      }
      const double alone = BestWall(finding)->ms.mid;
      if (Shows(after) && after > limits::kShowsAfter * alone) hidden_.push_back(asked[k]);
    }
    const analysis::Outcome together = simulation_.WhatIf(all);
    analysis_.wall.together_ms =
        Range{std::max(0.0, together.low_ms - first_saved_),
              std::max(0.0, together.saved_ms - first_saved_),
              std::clamp(together.high_ms - first_saved_, 0.0, analysis_.wall.wall_ms)};
  }

  // What is worth nothing on the clock, whatever else is done, is no finding about the host. Of
  // what shows only later, the finding about the host before it is the reason, else the first.
  void LeaveOut() {
    std::vector<Finding>& all = analysis_.findings;
    std::vector<Finding> kept;
    std::size_t next = 0;
    std::string host_before;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool hidden = next < hidden_.size() && hidden_[next] == i;
      if (hidden) ++next;
      Finding& f = all[i];
      // A rule's finding stands by its evidence, whatever waits for other ranks hide of it.
      if (f.host != nullptr && !f.rule && !hidden &&
          !Shows(BestWall(f) != nullptr ? BestWall(f)->ms.mid : 0))
        continue;
      const std::string id = fmt::format("f{}", kept.size() + 1);  // as it will be called
      if (hidden && !kept.empty()) f.shows_after = host_before.empty() ? "f1" : host_before;
      if (f.host != nullptr && host_before.empty()) host_before = id;
      kept.push_back(std::move(f));
    }
    all = std::move(kept);
  }

  const trace::EventStore& events_;
  const analysis::Simulation& simulation_;
  Analysis& analysis_;
  std::vector<std::size_t> hidden_;  // findings that show only after others, ascending
  const double unrecorded_ms_;
  Changes first_;  // the profiler's artefact removed; empty: there is none worth it
  double first_saved_ = 0;
  Changes most_;  // all that profiling may have cost removed
  double most_saved_ = 0;
};

}  // namespace

void FillWallSavings(const trace::EventStore& events, const analysis::Simulation& simulation,
                     ProfilerShare profiler, Analysis* analysis) {
  WallAsker(events, simulation, std::move(profiler), analysis).Run();
}

}  // namespace jarvis::findings
