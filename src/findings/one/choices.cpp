#include "findings/one/choices.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "findings/one/thresholds.h"
#include "findings/one/wall_plan.h"

namespace jarvis::findings {
namespace {

bool IsDismissed(const FindingChoices& choices, const Finding& finding) {
  return std::any_of(choices.dismissed.begin(), choices.dismissed.end(), [&](const auto& one) {
    return one.finding == finding.id && one.subject == finding.subject;
  });
}

void Dismiss(const FindingChoices& choices, Analysis* analysis) {
  for (const Dismissal& one : choices.dismissed) {
    const Finding* finding = analysis->FindFinding(one.finding);
    if (finding != nullptr && finding->subject == one.subject)
      analysis->dismissed.push_back({*finding, one.reason});
  }
  std::erase_if(analysis->findings,
                [&](const Finding& finding) { return IsDismissed(choices, finding); });
  if (analysis->findings.empty() && !analysis->dismissed.empty())
    analysis->nothing_because = {"dismissed"};
}

void Reorder(const std::vector<std::string>& order, std::vector<Finding>* findings) {
  const auto place = [&](const Finding& finding) {
    return std::find(order.begin(), order.end(), finding.id) - order.begin();
  };
  std::stable_sort(findings->begin(), findings->end(),
                   [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
}

// What each saves once those before it are done, and all of them together.
void RetellSavings(const analysis::Simulation& simulation, Analysis* analysis) {
  std::vector<PlanStep> steps;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < analysis->findings.size(); ++i) {
    auto step = PlanStepOf(*analysis, simulation, analysis->findings[i]);
    if (!step) continue;
    steps.push_back(std::move(*step));
    places.push_back(i);
  }
  const WallPlan plan = PlanInOrder(*analysis, simulation, std::move(steps));
  WallBase& wall = analysis->wall;
  const auto percent = [&](double ms) { return wall.wall_ms > 0 ? 100 * ms / wall.wall_ms : 0; };
  for (std::size_t k = 0; k < places.size(); ++k) {
    Finding& finding = analysis->findings[places[k]];
    const double after = plan.after_ms[k];
    for (std::optional<WallSaving>* saving : {&finding.wall_a, &finding.wall_b}) {
      if (*saving) (*saving)->after_others_ms = after;
    }
    finding.priority = PriorityOfSaving(percent(after));
    finding.minor = percent(std::max(BestWall(finding)->ms.mid, after)) < limits::kMinorShare;
  }
  TellTogether(simulation, analysis);
}

// What names findings that are gone, or now come later, is taken back.
void MendReferences(Analysis* analysis) {
  std::vector<Finding>& all = analysis->findings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].global_rank = static_cast<int>(i) + 1;
    std::erase_if(all[i].overlaps_with,
                  [&](const std::string& id) { return analysis->FindFinding(id) == nullptr; });
    const auto before = all.begin() + static_cast<std::ptrdiff_t>(i);
    const bool still = std::any_of(
        all.begin(), before, [&](const Finding& other) { return other.id == all[i].shows_after; });
    if (!still) all[i].shows_after.clear();
  }
  for (CategoryAnalysis& category : analysis->categories) {
    std::vector<Finding> kept;
    for (const Finding& finding : category.findings) {
      if (const Finding* same = analysis->FindFinding(finding.id)) kept.push_back(*same);
    }
    category.findings = std::move(kept);
  }
}

}  // namespace

Analysis WithChoices(const Analysis& analysis, const analysis::Simulation* simulation,
                     const FindingChoices& choices) {
  Analysis chosen = analysis;
  chosen.derived = choices.derived;
  chosen.order_because = choices.order.empty() ? std::string() : choices.order_because;
  AddFindings(choices.added, simulation, &chosen);
  Dismiss(choices, &chosen);
  Reorder(choices.order, &chosen.findings);
  if (simulation != nullptr && chosen.wall.known && chosen.wall.given != nullptr)
    RetellSavings(*simulation, &chosen);
  MendReferences(&chosen);
  chosen.priorities = CategoryPriorities(chosen);
  chosen.combined = CombinedOf(chosen);
  return chosen;
}

}  // namespace jarvis::findings
