#include "findings/one/system_findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_set>

#include "findings/one/advice_rules.h"
#include "findings/one/equal_calls.h"
#include "findings/one/estimates.h"
#include "findings/one/needs.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

struct GapRule {
  std::string_view name;
  Pattern pattern;
  Advice a;
};
constexpr GapRule kGapRules[] = {
    {"host_bound", Pattern::kHostBound, Advice::kGpuGraphs},
    {"synchronisation", Pattern::kSynchronisation, Advice::kAvoidSyncs},
    {"data_loading", Pattern::kDataLoading, Advice::kPrefetchData},
    {"communication_wait", Pattern::kCommunicationWait, Advice::kOverlapCommunication},
    {"start_up", Pattern::kStartUp, Advice::kWarmUpFirst},
    {"profiler_cost", Pattern::kProfilerCost, Advice::kRecordWithoutStacks},
    {"first_calls", Pattern::kFirstCalls, Advice::kWarmUpFirst},
    {"descheduled", Pattern::kDescheduled, Advice::kGiveCores},
};

void SetSavings(const Analysis& analysis, const Range& savings, Finding* f) {
  f->savings_ms = savings;
  f->impact_percent = Scaled(savings, 100 / analysis.totals.window_ms);
}

bool IsNotable(const Finding& f) {
  return std::any_of(f.patterns.begin(), f.patterns.end(),
                     [](const PatternHit& hit) { return Info(hit.pattern).notable; });
}

}  // namespace

void SetShares(const Analysis& analysis, Finding* finding) {
  finding->percent_of_total = analysis.totals.Share(finding->time_ms);
  if (analysis.totals.computation_ms > 0)
    finding->percent_of_computation = finding->time_ms / analysis.totals.computation_ms * 100;
}

void RankFindings(std::vector<Finding>* findings) {
  std::stable_sort(findings->begin(), findings->end(), [](const Finding& a, const Finding& b) {
    const double x = a.savings_ms ? a.savings_ms->mid : -1;
    const double y = b.savings_ms ? b.savings_ms->mid : -1;
    return x != y ? x > y : a.time_ms > b.time_ms;
  });
  int rank = 0;
  for (Finding& f : *findings)
    f.rank = ++rank;
}

Finding SystemFinding(const char* category, const char* name, std::string subject) {
  Finding f;
  f.category = category;
  f.category_name = name;
  f.tier = Tier::kSystem;
  f.subject = std::move(subject);
  f.bucket = "unknown";
  f.method = EstimateMethod::kMeasured;
  return f;
}

std::vector<Finding> IdleFindings(const Analysis& analysis) {
  std::vector<Finding> out;
  const IdleAnalysis& idle = analysis.idle;
  if (!idle.has_gpu_work) return out;
  if (!idle.reliable) {
    if (!idle.flagged) return out;
    Finding f = SystemFinding("cpu_idle", "CPU/Idle Analysis", "idle");
    f.method = EstimateMethod::kNone;
    f.time_ms = idle.idle_us / 1000;
    f.exclusive_ms = f.time_ms;
    SetShares(analysis, &f);
    f.warnings.push_back(idle.unreliable_because);
    out.push_back(std::move(f));
    RankFindings(&out);
    return out;
  }
  for (const GapGroup& group : idle.by_class) {
    const auto* rule = std::find_if(std::begin(kGapRules), std::end(kGapRules),
                                    [&](const GapRule& one) { return one.name == group.name; });
    const double share = analysis.totals.Percent(group.total_us / 1000).value_or(0);
    const double saved = analysis.totals.Percent(group.saved_us / 1000).value_or(0);
    const bool unexplained = rule == std::end(kGapRules) || group.saved_us <= 0;
    if (unexplained ? share <= limits::kMediumShare : saved < limits::kFindingMin) continue;
    Finding f = SystemFinding("cpu_idle", "CPU/Idle Analysis", group.name);
    f.members = {group.name};
    f.count = group.count;
    f.time_ms = group.total_us / 1000;
    f.exclusive_ms = f.time_ms;
    f.upper_bound_ms = f.time_ms;
    SetShares(analysis, &f);
    if (unexplained) {
      f.method = EstimateMethod::kNone;
    } else {
      // From launches one by one to none at all; between them, as queued work follows.
      SetSavings(analysis,
                 {group.saved_low_us / 1000, group.saved_us / 1000, group.total_us / 1000}, &f);
    }
    if (rule != std::end(kGapRules)) {
      f.patterns.push_back({rule->pattern,
                            {NumberFact("median_us", group.median_us, "us"),
                             NumberFact("max_us", group.max_us, "us")}});
    }
    if (rule != std::end(kGapRules)) {
      const Advice advice =
          rule->pattern == Pattern::kDataLoading ? LoaderAdvice(analysis.context) : rule->a;
      (PathOf(advice) == Path::kA ? f.path_a : f.path_b) = {{advice, {}, {}}};
    }
    if (group.name == "host_bound") {
      const bool waits = static_cast<double>(analysis.context.sync_calls) > limits::kCopyCount;
      f.path_b = WaysToLaunchFaster(analysis.context, waits, false);
    }
    for (const Gap& gap : idle.gaps) {
      if (GapText(gap.kind) != group.name || gap.module_path.empty()) continue;
      if (std::find(f.module_paths.begin(), f.module_paths.end(), gap.module_path) ==
              f.module_paths.end() &&
          f.module_paths.size() < 3) {
        f.module_paths.push_back(gap.module_path);
      }
    }
    f.priority = PriorityOf(f.percent_of_total.value_or(0), std::nullopt, IsNotable(f));
    out.push_back(std::move(f));
  }
  RankFindings(&out);
  return out;
}

namespace {

// One collective per step stays exposed, if all are of one size and start when they can.
Range CommunicationSavings(const MultiKernelAnalysis& multi, std::size_t steps) {
  const double exposed = multi.exposed_comm_us;
  const double rounds = static_cast<double>(std::max<std::size_t>(1, steps));
  const double each_round = static_cast<double>(multi.comm_count) / rounds;
  const double ratio = multi.comm_overlap_ratio.value_or(0);
  const double target = std::max(0.0, exposed - (1 - limits::kOverlapRatio) * multi.comm_us);
  const double split = each_round >= 2 ? std::max(0.0, exposed - multi.comm_us / each_round)
                                       : exposed * limits::kOverlapRatio;
  Range out{target, std::max(target, split), exposed};
  // Nothing is hidden today: perhaps the next work needs the result, and nothing can be.
  if (ratio < 0.05) out = {0, split / 2, exposed};
  // No more can be hidden than there is computation with nothing beside it.
  const double free = std::max(0.0, multi.computation_us - (multi.comm_us - exposed));
  const double cap = std::min(exposed, free) / 1000;
  return {std::min(out.low / 1000, cap), std::min(out.mid / 1000, cap),
          std::min(out.high / 1000, cap)};
}

Finding CommunicationFinding(const session::LoadedTrace& trace, const Analysis& analysis,
                             std::size_t steps) {
  const MultiKernelAnalysis& multi = analysis.multi_kernel;
  Finding f = SystemFinding("multi_kernel", "Multi-Kernel Analysis", "communication");
  f.time_ms = multi.exposed_comm_us / 1000;
  f.exclusive_ms = f.time_ms;
  f.upper_bound_ms = f.time_ms;
  f.count = multi.comm_count;
  // What of it is waiting for ranks that are late, and no cost of this one's, is not known.
  std::optional<double> waiting_ms;
  if (multi.one_rank) {
    f.method = EstimateMethod::kNone;
    waiting_ms = WaitingMs(trace);
  } else {
    SetSavings(analysis, CommunicationSavings(multi, steps), &f);
  }
  SetShares(analysis, &f);
  std::vector<Fact> facts = {NumberFact("comm_ms", multi.comm_us / 1000, "ms"),
                             NumberFact("exposed_comm_ms", multi.exposed_comm_us / 1000, "ms")};
  if (multi.comm_overlap_ratio)
    facts.push_back(NumberFact("overlap_percent", *multi.comm_overlap_ratio * 100, "%"));
  if (waiting_ms) facts.push_back(NumberFact("waiting_ms", *waiting_ms, "ms"));
  f.patterns.push_back({Pattern::kNcclBlockingCompute, facts});
  if (multi.overlap_flagged)
    f.patterns.push_back({Pattern::kPoorCommComputeOverlap, std::move(facts)});
  const auto longest = std::max_element(
      multi.collectives.begin(), multi.collectives.end(),
      [](const CollectiveRow& a, const CollectiveRow& b) { return a.exposed_us < b.exposed_us; });
  ExposedCollectives exposed;
  if (longest != multi.collectives.end()) {
    exposed.longest = longest->name;
    exposed.message = MessageOf(trace, longest->example);
    exposed.issued = !longest->op.empty() && multi.nccl;
    exposed.fp32 = longest->dtype == "Float" || longest->dtype == "float32";
  }
  exposed.nccl = multi.nccl;
  exposed.one_rank = multi.one_rank;
  exposed.in_file = multi.ranks_in_file;
  exposed.mostly_hidden = multi.comm_overlap_ratio.value_or(0) > 0.5;
  exposed.waits = waiting_ms.value_or(0) >= limits::kWaitingPart * f.time_ms;
  Ways ways = WaysForCommunication(analysis.context, exposed);
  f.path_a = std::move(ways.a);
  f.path_b = std::move(ways.b);
  for (const CollectiveRow& row : multi.collectives) {
    const double mean = row.total_us / static_cast<double>(std::max<std::uint64_t>(1, row.count));
    if (row.bytes && *row.bytes < limits::kTinyMessage && mean > limits::kCommMinUs) {
      PatternHit wait{Pattern::kCommunicationWait,
                      {{"collective", row.name, {}},
                       NumberFact("message_bytes", *row.bytes, "B"),
                       NumberFact("mean_us", mean, "us")}};
      // What takes long with next to nothing waits for another rank; if that is most of the time,
      // the title says so.
      const bool most = row.total_us > 0.4 * multi.comm_us;
      f.patterns.insert(most ? f.patterns.begin() : f.patterns.end(), std::move(wait));
    }
    if (f.members.size() < 5) f.members.push_back(row.name);
  }
  if (multi.one_rank) f.warnings.emplace_back("one_rank");
  f.priority = PriorityOf(f.percent_of_total.value_or(0), std::nullopt, true);
  return f;
}

constexpr double kLargeCopies = 0.3;     // of the base
constexpr double kHardlyComputes = 0.1;  // of the base: then more of it costs little

// Then what is uploaded for it is as wide.
bool ComputesInFp32(const Analysis& analysis) {
  const std::string& precision = analysis.workload[WorkloadPart::kPrecision].value;
  const auto has = [&](const char* bits) { return precision.find(bits) != std::string::npos; };
  return has("32") && !has("16") && !has("8");
}

// Of the few copies that take nearly all of the time, where there are others: size and rate of
// each.
std::vector<Fact> LargeFacts(const CopyGroup& group) {
  std::vector<Fact> facts;
  if (group.large.size() == group.count) return facts;
  for (const CopyGroup::Large& one : group.large) {
    if (one.bytes <= 0) return {};
    facts.push_back(NumberFact("large_copy", one.bytes / 1e6, "MB"));
    facts.push_back(NumberFact("its_rate", one.bytes / one.us / 1000, "GB/s"));
  }
  return facts;
}

Finding CopyFinding(const session::LoadedTrace& trace, const Analysis& analysis,
                    const CopyGroup& group) {
  Finding f = SystemFinding("multi_kernel", "Multi-Kernel Analysis",
                            std::string(DirectionText(group.direction)) + " copies");
  f.time_ms = group.total_us / 1000;
  f.exclusive_ms = group.exposed_us / 1000;
  f.upper_bound_ms = f.exclusive_ms;
  f.count = group.count;
  SetSavings(analysis, SavingsOf(f.exclusive_ms), &f);
  SetShares(analysis, &f);
  const bool to_host = group.direction == CopyDirection::kToHost;
  const bool inside = group.direction == CopyDirection::kOnDevice;
  f.patterns.push_back({inside    ? Pattern::kExposedD2dMemcpy
                        : to_host ? Pattern::kHighD2hMemcpy
                                  : Pattern::kHighH2dMemcpy,
                        {NumberFact("copy_ms", f.time_ms, "ms")}});
  if (group.tb_per_s)
    f.patterns.back().facts.push_back(NumberFact("rate", *group.tb_per_s * 1000, "GB/s"));
  if (group.pageable > 0) {
    f.patterns.back().facts.push_back({"pageable", static_cast<std::int64_t>(group.pageable), {}});
  }
  for (Fact& fact : LargeFacts(group))
    f.patterns.back().facts.push_back(std::move(fact));
  if (inside) {
    f.path_a.push_back({Advice::kWriteInPlace, {}, {}});
  } else if (group.mostly_pageable()) {
    if (2 * group.made_us > group.total_us) f.path_a.push_back({Advice::kBuildOnDevice, {}, {}});
    f.path_b.push_back({Advice::kPinnedCopies, {}, {}});
    if (to_host) f.path_b.back().facts.push_back({"read", "before the values are read", "words"});
    if (group.happens_once()) {
      f.path_b.back().facts.push_back({"buffer", "the buffer", "words"});
      if (f.path_a.empty()) SetSavings(analysis, {0, f.savings_ms->mid, f.savings_ms->high}, &f);
    }
  } else {
    // Copies that take most of the time of a program that loads nothing bring what could stay.
    const bool loads = analysis.context.own_loader || analysis.context.worker_loader;
    if (!to_host && !loads && f.exclusive_ms >= kLargeCopies * analysis.base.total_ms) {
      f.path_b.push_back({Advice::kKeepOnDevice, {}, {}});
      const double computes = analysis.multi_kernel.computation_us / 1000 / analysis.base.total_ms;
      if (computes < kHardlyComputes)
        f.path_b.back().facts.push_back(
            {"computes", fmt::format("{:.0f}%", std::ceil(100 * computes)), "words"});
      if (group.bytes)
        f.patterns.back().facts.push_back(
            NumberFact("moved", analysis.base.Each(*group.bytes / 1e9), "GB"));
      if (ComputesInFp32(analysis)) f.path_a.push_back({Advice::kHalveUploads, {}, {}});
      if (trace.rank_part() && trace.rank_part()->equal_uploads)
        f.path_a.push_back({Advice::kShareUploads, {}, {}});
      // Nothing is left of what is not copied.
      SetSavings(analysis, {f.exclusive_ms, f.exclusive_ms, f.exclusive_ms}, &f);
    } else if (!group.mostly_aside()) {
      f.path_b.push_back({to_host ? Advice::kCopyBackAside : Advice::kPrefetchToDevice, {}, {}});
    }
  }
  std::unordered_set<std::string_view> rows;
  for (const CopySite& site : analysis.multi_kernel.copy_sites) {
    if (site.direction != group.direction) continue;
    if (!site.row_id.empty() && rows.insert(site.row_id).second) f.row_ids.push_back(site.row_id);
    if (!site.module_path.empty() && f.module_paths.size() < 3)
      f.module_paths.push_back(site.module_path);
  }
  f.priority = PriorityOf(f.percent_of_total.value_or(0), std::nullopt, true);
  return f;
}

}  // namespace

std::vector<Finding> MultiKernelFindings(const session::LoadedTrace& trace,
                                         const Analysis& analysis, std::size_t steps) {
  std::vector<Finding> out;
  const MultiKernelAnalysis& multi = analysis.multi_kernel;
  if (!multi.has_gpu_work || analysis.totals.window_ms <= 0) return out;
  if (multi.comm_flagged || multi.overlap_flagged) {
    Finding f = CommunicationFinding(trace, analysis, steps);
    if (f.time_ms * 1e5 >= limits::kFindingMin * multi.window_us) out.push_back(std::move(f));
  }
  for (const CopyGroup& group : multi.copies) {
    if (!group.flagged || group.percent_of_total.value_or(0) < limits::kFindingMin) continue;
    out.push_back(CopyFinding(trace, analysis, group));
  }
  RankFindings(&out);
  return out;
}

}  // namespace jarvis::findings
