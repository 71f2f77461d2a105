#include "documents/impact_text.h"

#include <string_view>

#include <fmt/format.h>

#include "documents/added_prose.h"
#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "findings/one/wall_plan.h"

namespace jarvis::documents {

bool MovesData(const findings::Finding& finding) {
  const std::string& name = finding.category_name;
  return finding.category == "multi_kernel" &&
         (name == "Multi-Kernel Analysis" || name == "Copies" ||
          name == "Communication and copies");
}

double OnceMs(const findings::Finding& finding) {
  constexpr double kNearly = 0.95;
  const double saved = findings::BestWall(finding)->ms.mid;
  return saved >= kNearly * finding.time_ms ? finding.time_ms : saved;
}

bool ShowsLater(const findings::Finding& finding) {
  if (!finding.shows_after.empty()) return true;
  constexpr double kNothing = 0.05;  // of the GPU's time that goes
  const findings::WallSaving* best = findings::BestWall(finding);
  return best != nullptr && finding.host == nullptr && finding.tier == findings::Tier::kCompute &&
         finding.savings_ms && best->ms.high <= kNothing * finding.savings_ms->mid;
}

std::string LaterText(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.shows_after.empty()) {
    return fmt::format("Saves nothing while host-bound, then up to {} of GPU time.",
                       EachMs(analysis, finding.savings_ms->high));
  }
  return fmt::format("Saves almost nothing on its own, {} {} once priority {} is done.",
                     AfterRange(analysis, *findings::BestWall(finding)), UnitPhrase(analysis),
                     PlaceOf(analysis, finding.shows_after));
}

namespace {

std::string WallSentence(const findings::Analysis& analysis, const findings::Finding& finding) {
  const findings::WallSaving* best = findings::BestWall(finding);
  if (finding.one_off) {
    return fmt::format("Saves {} once; a steady {} does not have this cost.", Ms(OnceMs(finding)),
                       analysis.base.unit);
  }
  std::string text =
      fmt::format("Saves {} {} ({}{})", AfterRange(analysis, *best), UnitPhrase(analysis),
                  AfterShare(analysis, *best), OfSavingBase(analysis));
  if (finding.global_rank > 1) text += " on top of the priorities above";
  if (!finding.shows_after.empty()) {
    text += fmt::format("; it hardly shows before priority {} is done",
                        PlaceOf(analysis, finding.shows_after));
  }
  return text + ".";
}

// Of communication on one rank of several: what there is to gain, and what binds then.
std::string BoundSentence(const findings::Analysis& analysis, const findings::Finding& finding) {
  const findings::WallBase& wall = analysis.wall;
  const double bound_ms = *finding.bound_ms;
  constexpr double kNothing = 0.005;  // of the steps
  if (analysis.cpu) return MeasuredBound(analysis, bound_ms);
  if (bound_ms < kNothing * wall.wall_ms) return "Saves nothing while host-bound.";
  std::string text =
      fmt::format("Saves at most {} {} ({}), if all of it were hidden", EachMs(analysis, bound_ms),
                  UnitPhrase(analysis), SavingShare(analysis, bound_ms));
  if (HostSetsPaceAfter(analysis, bound_ms)) {
    text +=
        fmt::format("; then the host ({}) is the bottleneck", EachMs(analysis, wall.host_floor_ms));
    if (finding.joint_ms.value_or(0) > bound_ms) {
      text += fmt::format(
          ", and with its launches compiled or replayed as a GPU graph as well the saving is at "
          "most {}",
          EachMs(analysis, *finding.joint_ms));
    }
  }
  return text + ". One rank cannot show how much of it is waiting for other ranks.";
}

}  // namespace

bool HostSetsPaceAfter(const findings::Analysis& analysis, double saved_ms) {
  constexpr double kNearly = 0.9;  // of what is left
  return analysis.wall.host_floor_ms >= kNearly * (analysis.wall.wall_ms - saved_ms);
}

double BoundOfAction(const findings::Finding& finding, bool path_b) {
  const std::vector<findings::Remedy>& path = path_b ? finding.path_b : finding.path_a;
  return *finding.bound_ms * (path.empty() ? 1 : findings::Info(path.front().advice).most);
}

bool IsBound(const findings::Finding& finding) {
  return finding.bound_ms && !finding.wall_a && !finding.wall_b;
}

std::string ImpactSentence(const findings::Analysis& analysis, const findings::Finding& finding,
                           const findings::Range* additional_ms) {
  if (ShowsLater(finding) && finding.shows_after.empty()) return LaterText(analysis, finding);
  if (finding.wall_a || finding.wall_b) return WallSentence(analysis, finding);
  if (IsBound(finding)) return BoundSentence(analysis, finding);
  if (!finding.savings_ms || finding.method == findings::EstimateMethod::kNone) {
    return "No estimate: the trace does not show how much could be saved.";
  }
  std::string text =
      "Saves " +
      EachRange(analysis, additional_ms == nullptr ? *finding.savings_ms : *additional_ms) +
      " of GPU time";
  if (additional_ms != nullptr) {
    text += " on top of the recommendations above, which cover some of the same kernels,";
  } else if (finding.impact_percent && finding.savings_ms->high <= analysis.base.total_ms) {
    text += fmt::format(" ({} of it at most)", BaseShare(analysis, finding.savings_ms->high));
  }
  switch (finding.method) {
    case findings::EstimateMethod::kRoof: return text + " if it reaches the roofline.";
    case findings::EstimateMethod::kMeasured: return text + " if the cause is removed.";
    case findings::EstimateMethod::kTraffic: return text + " if the chain becomes one kernel.";
    case findings::EstimateMethod::kTarget: {
      const auto& change = finding.change_a ? finding.change_a : finding.change_b;
      if (!change) return text + ".";
      return text + fmt::format(", assuming {} ({}).", change->target, change->source);
    }
    default: return text + "; a rough estimate without a performance model.";
  }
}

}  // namespace jarvis::documents
