#include "findings/one/priorities.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "findings/one/analysis.h"
#include "findings/one/estimates.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

// The part of its time that each thing saves: low, middle, high.
using Parts = std::map<std::string, Range>;

Range Larger(const Range& a, const Range& b) {
  return {std::max(a.low, b.low), std::max(a.mid, b.mid), std::max(a.high, b.high)};
}
void Take(Parts* parts, const std::string& id, const Range& part) {
  const auto [found, added] = parts->try_emplace(id, part);
  if (!added) found->second = Larger(found->second, part);
}

// What a plan saves: of operations and fusion candidates as parts of their time, of gap classes,
// communication and copies in ms.
struct Plan {
  Parts operations;
  Parts candidates;
  std::map<std::string, Range> system;  // by finding id
  std::map<std::string, double> system_cap_ms;
};

Range PartOf(const Range& savings_ms, double time_us) {
  return time_us > 0 ? Scaled(savings_ms, 1000 / time_us) : Range{};
}

void Claim(const Analysis& analysis, const Finding& finding, std::optional<double> target,
           Plan* plan) {
  if (finding.by_hand != nullptr && !target) return;  // told in wall time alone
  if (finding.tier == Tier::kSystem) {
    if (!finding.savings_ms) return;
    plan->system[finding.id] = *finding.savings_ms;
    plan->system_cap_ms[finding.id] = finding.exclusive_ms;
    return;
  }
  for (const std::string& member : finding.members) {
    if (finding.tier == Tier::kFusion) {
      for (const FusionCandidate& candidate : analysis.fusion.candidates) {
        if (candidate.id == member && candidate.savings_ms)
          Take(&plan->candidates, member, PartOf(*candidate.savings_ms, candidate.total_us));
      }
      continue;
    }
    const Operation* operation = analysis.FindOperation(member);
    if (operation == nullptr) continue;
    if (target && operation->efficiency.percent) {
      const double part = std::max(0.0, 1 - *operation->efficiency.percent / *target);
      const double most = operation->gpu_us > 0 ? operation->exclusive_us / operation->gpu_us : 0;
      const double capped = std::min(part, most);
      Take(&plan->operations, member, {capped, capped, capped});
    } else if (operation->savings_ms) {
      Take(&plan->operations, member, PartOf(*operation->savings_ms, operation->gpu_us));
    }
  }
}

// Each kernel once: where two claims meet, the larger counts.
Range KernelSavingsMs(const Analysis& analysis, const Plan& plan) {
  // Time of an operation's kernels in the claimed candidates.
  std::map<std::string, std::vector<std::pair<double, Range>>> taken;
  for (const FusionCandidate& candidate : analysis.fusion.candidates) {
    const auto claim = plan.candidates.find(candidate.id);
    if (claim == plan.candidates.end()) continue;
    for (const FusionKernel& kernel : candidate.kernels) {
      taken[kernel.operation].emplace_back(
          kernel.mean_us * static_cast<double>(candidate.instances), claim->second);
    }
  }
  Range us;
  for (const CategoryAnalysis& category : analysis.categories) {
    for (const Operation& operation : category.operations) {
      const auto own = plan.operations.find(operation.id);
      const auto others = taken.find(operation.id);
      if (own == plan.operations.end() && others == taken.end()) continue;
      const Range part = own == plan.operations.end() ? Range{} : own->second;
      double rest = operation.gpu_us;
      Range saved;
      if (others != taken.end()) {
        for (const auto& [time, claim] : others->second) {
          const double here = std::min(time, rest);
          const Range most = Larger(claim, part);
          rest -= here;
          for (double Range::*x : {&Range::low, &Range::mid, &Range::high})
            saved.*x += here * (most.*x);
        }
      }
      for (double Range::*x : {&Range::low, &Range::mid, &Range::high})
        us.*x += std::min(saved.*x + rest * (part.*x), operation.exclusive_us);
    }
  }
  return Scaled(us, 1e-3);
}

Combined Combine(const Analysis& analysis, const Plan& plan) {
  Combined out;
  out.savings_ms = KernelSavingsMs(analysis, plan);
  const Totals& totals = analysis.totals;
  bool kernels = !plan.operations.empty() || !plan.candidates.empty();
  out.cap_ms = kernels ? totals.computation_ms : 0;
  for (double Range::*x : {&Range::low, &Range::mid, &Range::high})
    out.savings_ms.*x = std::min(out.savings_ms.*x, out.cap_ms);
  for (const auto& [id, savings] : plan.system) {
    const double cap = plan.system_cap_ms.at(id);
    out.cap_ms += cap;
    for (double Range::*x : {&Range::low, &Range::mid, &Range::high})
      out.savings_ms.*x += std::min(savings.*x, cap);
  }
  out.cap_ms = std::min(out.cap_ms, totals.window_ms);
  for (double Range::*x : {&Range::low, &Range::mid, &Range::high})
    out.savings_ms.*x = std::min(out.savings_ms.*x, out.cap_ms);
  out.new_total_ms = {totals.window_ms - out.savings_ms.high, totals.window_ms - out.savings_ms.mid,
                      totals.window_ms - out.savings_ms.low};
  if (totals.window_ms > 0) out.percent = Scaled(out.savings_ms, 100 / totals.window_ms);
  return out;
}

void Finish(double sum_ms, std::vector<std::string> ids, Combined* out) {
  out->sum_of_parts_ms = sum_ms;
  out->findings = std::move(ids);
  out->capped = sum_ms > out->savings_ms.mid * (1 + 1e-9) + 1e-9;
}

}  // namespace

jarvis::Status CheckPlanItem(const Analysis& analysis, const PlanItem& item) {
  if (item.target_percent && !(*item.target_percent > 0 && *item.target_percent <= 100)) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("target_percent: expected above 0 and at most 100, received {}",
                            *item.target_percent));
  }
  if (analysis.FindFinding(item.finding) == nullptr &&
      analysis.FindOperation(item.finding) == nullptr) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("no finding or operation \"{}\": findings are f1..f{}, operations "
                            "such as gemm.1",
                            item.finding.substr(0, 40), analysis.findings.size()));
  }
  return {};
}

Result<Combined> WhatIf(const Analysis& analysis, std::span<const PlanItem> items) {
  Plan plan;
  double sum = 0;
  std::vector<std::string> ids;
  for (const PlanItem& item : items) {
    JV_TRY(CheckPlanItem(analysis, item));
    Plan one;
    if (const Finding* finding = analysis.FindFinding(item.finding)) {
      Claim(analysis, *finding, item.target_percent, &one);
    } else {
      Finding alone;
      alone.id = item.finding;
      alone.members = {item.finding};
      Claim(analysis, alone, item.target_percent, &one);
    }
    sum += Combine(analysis, one).savings_ms.mid;
    for (const auto& [id, part] : one.operations)
      Take(&plan.operations, id, part);
    for (const auto& [id, part] : one.candidates)
      Take(&plan.candidates, id, part);
    plan.system.insert(one.system.begin(), one.system.end());
    plan.system_cap_ms.insert(one.system_cap_ms.begin(), one.system_cap_ms.end());
    if (std::find(ids.begin(), ids.end(), item.finding) == ids.end()) ids.push_back(item.finding);
  }
  Combined out = Combine(analysis, plan);
  Finish(sum, std::move(ids), &out);
  return out;
}

Combined CombinedOf(const Analysis& analysis) {
  std::vector<PlanItem> plan;
  for (const Finding& finding : analysis.findings) {
    // What happens once adds to no saving.
    if (!finding.one_off) plan.push_back({finding.id, {}});
  }
  const Result<Combined> told = WhatIf(analysis, plan);
  Combined combined = told ? *told : Combined{};
  double all = 0;
  double own = 0;
  for (const Finding& finding : analysis.findings) {
    if (finding.one_off || !finding.savings_ms) continue;
    all += finding.savings_ms->high;
    own += finding.OwnSavingsMs().high;
  }
  if (all > 0) combined.own_part = own / all;
  return combined;
}

std::vector<CategoryPriority> CategoryPriorities(const Analysis& analysis) {
  std::vector<CategoryPriority> rows;
  for (const CategoryAnalysis& category : analysis.categories) {
    CategoryPriority row;
    row.category = category.key;
    row.display_name = category.display_name;
    row.gpu_ms = category.gpu_us / 1000;
    row.percent_of_computation = category.percent_of_computation;
    row.operations = category.calls;
    for (const Finding& finding : category.findings) {
      if (!finding.impact_percent) continue;
      if (!row.impact_percent) row.impact_percent = Range{};
      for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
        (*row.impact_percent).*part += (*finding.impact_percent).*part;
    }
    row.source = !row.impact_percent ? "no_finding" : "findings_rollup";
    if (!row.impact_percent && !category.notes.empty()) row.why_not = category.notes.front();
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CategoryPriority& a, const CategoryPriority& b) {
                     const double x = a.impact_percent ? a.impact_percent->mid : -1;
                     const double y = b.impact_percent ? b.impact_percent->mid : -1;
                     return x != y ? x > y : a.gpu_ms > b.gpu_ms;
                   });
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].rank = static_cast<int>(i) + 1;
  return rows;
}

std::vector<Projection> ProjectionsOf(const Finding& finding, double window_ms) {
  std::vector<Projection> out;
  if (!finding.efficiency || *finding.efficiency <= 0) return out;
  for (const double target : {20.0, 50.0, 70.0, 80.0, 90.0}) {
    if (target <= *finding.efficiency) continue;
    const double now = finding.time_ms * *finding.efficiency / target;
    const double saved = std::min(finding.time_ms - now, finding.exclusive_ms);
    out.push_back({target, now, saved,
                   window_ms > 0 ? std::optional(saved / window_ms * 100) : std::nullopt});
  }
  return out;
}

std::vector<std::string> WhyNothing(const Analysis& analysis) {
  if (!analysis.findings.empty()) return {};
  if (!analysis.totals.has_gpu_work) return {"no_gpu_work"};
  if (analysis.too_little) return {"too_little"};
  std::set<std::string> reasons;
  for (const CategoryAnalysis& category : analysis.categories) {
    if (category.percent_of_computation.value_or(0) < limits::kSignificantShare) continue;
    reasons.insert(category.notes.begin(), category.notes.end());
  }
  if (!analysis.idle.flagged) reasons.insert("busy");
  return {reasons.begin(), reasons.end()};
}

}  // namespace jarvis::findings
