#include "findings/one/system_findings.h"

#include <algorithm>
#include <map>

#include "findings/one/advice_rules.h"
#include "findings/one/estimates.h"
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

void Shares(const Analysis& analysis, Finding* f) {
  f->percent_of_total = analysis.totals.Percent(f->time_ms);
  if (analysis.totals.computation_ms > 0)
    f->percent_of_computation = f->time_ms / analysis.totals.computation_ms * 100;
}

bool IsNotable(const Finding& f) {
  return std::any_of(f.patterns.begin(), f.patterns.end(),
                     [](const PatternHit& hit) { return Info(hit.pattern).notable; });
}

void Rank(std::vector<Finding>* findings) {
  std::stable_sort(findings->begin(), findings->end(), [](const Finding& a, const Finding& b) {
    const double x = a.savings_ms ? a.savings_ms->mid : -1;
    const double y = b.savings_ms ? b.savings_ms->mid : -1;
    return x != y ? x > y : a.time_ms > b.time_ms;
  });
  int rank = 0;
  for (Finding& f : *findings)
    f.rank = ++rank;
}

}  // namespace

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
    Shares(analysis, &f);
    f.warnings.push_back(idle.unreliable_because);
    out.push_back(std::move(f));
    Rank(&out);
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
    Shares(analysis, &f);
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
    if (rule != std::end(kGapRules)) f.path_a = {{rule->a, {}, {}}};
    if (group.name == "host_bound") {
      const bool waits = static_cast<double>(analysis.context.sync_calls) > limits::kCopyCount;
      Ways ways = WaysToLaunchFaster(analysis.context, waits);
      f.path_a = std::move(ways.a);
      f.path_b = std::move(ways.b);
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
  Rank(&out);
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

Finding CommunicationFinding(const Analysis& analysis, std::size_t steps) {
  const MultiKernelAnalysis& multi = analysis.multi_kernel;
  Finding f = SystemFinding("multi_kernel", "Multi-Kernel Analysis", "communication");
  f.time_ms = multi.exposed_comm_us / 1000;
  f.exclusive_ms = f.time_ms;
  f.upper_bound_ms = f.time_ms;
  f.count = multi.comm_count;
  SetSavings(analysis, CommunicationSavings(multi, steps), &f);
  Shares(analysis, &f);
  std::vector<Fact> facts = {NumberFact("comm_ms", multi.comm_us / 1000, "ms"),
                             NumberFact("exposed_comm_ms", multi.exposed_comm_us / 1000, "ms")};
  if (multi.comm_overlap_ratio)
    facts.push_back(NumberFact("overlap_percent", *multi.comm_overlap_ratio * 100, "%"));
  f.patterns.push_back({Pattern::kExposedCommunication, facts});
  if (multi.overlap_flagged) f.patterns.push_back({Pattern::kPoorOverlap, std::move(facts)});
  const auto longest = std::max_element(
      multi.collectives.begin(), multi.collectives.end(),
      [](const CollectiveRow& a, const CollectiveRow& b) { return a.exposed_us < b.exposed_us; });
  Ways ways = WaysForCommunication(analysis.context,
                                   longest == multi.collectives.end() ? "" : longest->name,
                                   multi.nccl, multi.one_rank);
  f.path_a = std::move(ways.a);
  f.path_b = std::move(ways.b);
  for (const CollectiveRow& row : multi.collectives) {
    const double mean = row.total_us / static_cast<double>(std::max<std::uint64_t>(1, row.count));
    if (row.bytes && *row.bytes < limits::kTinyMessage && mean > limits::kCommMinUs) {
      PatternHit wait{Pattern::kCommunicationWait,
                      {{"collective", row.name, {}, {}, {}},
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

Finding CopyFinding(const Analysis& analysis, const CopyGroup& group) {
  Finding f = SystemFinding("multi_kernel", "Multi-Kernel Analysis",
                            std::string(DirectionText(group.direction)) + " copies");
  f.time_ms = group.total_us / 1000;
  f.exclusive_ms = group.exposed_us / 1000;
  f.upper_bound_ms = f.exclusive_ms;
  f.count = group.count;
  SetSavings(analysis, SavingsOf(f.exclusive_ms), &f);
  Shares(analysis, &f);
  const bool to_host = group.direction == CopyDirection::kToHost;
  f.patterns.push_back({to_host ? Pattern::kCopiesToHost : Pattern::kCopiesToDevice,
                        {NumberFact("copy_ms", f.time_ms, "ms")}});
  if (group.tb_per_s)
    f.patterns.back().facts.push_back(NumberFact("rate", *group.tb_per_s * 1000, "GB/s"));
  if (group.pageable > 0) {
    f.patterns.back().facts.push_back(
        {"pageable", static_cast<std::int64_t>(group.pageable), {}, {}, {}});
  }
  if (to_host) f.path_a.push_back({Advice::kKeepOnDevice, {}, {}});
  if (!to_host && group.pageable == 0) f.path_a.push_back({Advice::kPrefetchToDevice, {}, {}});
  if (group.pageable > 0) f.path_a.push_back({Advice::kPinnedCopies, {}, {}});
  for (const CopySite& site : analysis.multi_kernel.copy_sites) {
    if (site.direction != group.direction) continue;
    if (!site.row_id.empty() &&
        std::find(f.row_ids.begin(), f.row_ids.end(), site.row_id) == f.row_ids.end()) {
      f.row_ids.push_back(site.row_id);
    }
    if (!site.module_path.empty() && f.module_paths.size() < 3)
      f.module_paths.push_back(site.module_path);
  }
  f.priority = PriorityOf(f.percent_of_total.value_or(0), std::nullopt, true);
  return f;
}

}  // namespace

std::vector<Finding> MultiKernelFindings(const Analysis& analysis, std::size_t steps) {
  std::vector<Finding> out;
  const MultiKernelAnalysis& multi = analysis.multi_kernel;
  if (!multi.has_gpu_work || analysis.totals.window_ms <= 0) return out;
  if (multi.comm_flagged || multi.overlap_flagged) {
    Finding f = CommunicationFinding(analysis, steps);
    if (f.percent_of_total.value_or(0) >= limits::kFindingMin) out.push_back(std::move(f));
  }
  for (const CopyGroup& group : multi.copies) {
    if (!group.flagged || group.percent_of_total.value_or(0) < limits::kFindingMin) continue;
    out.push_back(CopyFinding(analysis, group));
  }
  Rank(&out);
  return out;
}

namespace {

// What is fused, by its kind; absent: nothing is called but the ops around.
std::optional<Pattern> PatternOf(FusionKind kind) {
  switch (kind) {
    case FusionKind::kAttention: return Pattern::kUnfusedAttention;
    case FusionKind::kNorm: return Pattern::kUnfusedNorm;
    case FusionKind::kActivation: return Pattern::kUnfusedActivation;
    case FusionKind::kRotary: return Pattern::kUnfusedRotary;
    case FusionKind::kEpilogue:
    case FusionKind::kOptimizer:
    case FusionKind::kChain: break;
  }
  return std::nullopt;
}

// A compiler fuses chains by itself; what it left, and what an old PyTorch runs, needs other ways.
std::vector<Remedy> FusionWays(FusionKind kind, const WorkContext& context) {
  std::vector<Remedy> ways;
  const auto add = [&](Advice advice) { ways.push_back({advice, {}, {}}); };
  if (kind == FusionKind::kAttention) return {{Advice::kFlashAttention, {}, {}}};
  if (kind == FusionKind::kOptimizer) {
    return {{context.before_torch2 ? Advice::kLegacyOptimizer : Advice::kFusedOptimizer, {}, {}}};
  }
  if (context.before_torch2) return {{Advice::kUpgradeTorch, {}, {}}};
  if (!context.compiled) add(Advice::kCompile);
  if (kind == FusionKind::kNorm) add(Advice::kFusedNorm);
  if (kind == FusionKind::kRotary) add(Advice::kFuseRotary);
  if (context.compiled && kind != FusionKind::kNorm) add(Advice::kFuseIntoProduct);
  return ways;
}

std::string ScoresText(const FusionCandidate& candidate) {
  std::string text;
  for (const std::int64_t size : candidate.scores)
    text += (text.empty() ? "(" : ",") + std::to_string(size);
  return text.empty() ? text : text + ")";
}

// "aten::add, aten::mul": what a chain without a module is called.
std::string OpsText(const FusionCandidate& candidate) {
  constexpr std::size_t kOpsMax = 4;
  std::vector<std::string> names;
  for (const FusionKernel& kernel : candidate.kernels) {
    if (std::find(names.begin(), names.end(), kernel.op) == names.end()) names.push_back(kernel.op);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kOpsMax); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kOpsMax ? text + ", ..." : text;
}

std::vector<Fact> FusionFacts(const Analysis& analysis, const FusionCandidate& candidate) {
  std::vector<Fact> facts;
  facts.push_back(
      {"kernels_per_instance", static_cast<std::int64_t>(candidate.kernels.size()), {}, {}, {}});
  if (candidate.kind != FusionKind::kAttention) return facts;
  facts.push_back({"score_shape", ScoresText(candidate), {}, {}, {}});
  facts.push_back({"head_size", static_cast<std::int64_t>(candidate.head_size), {}, {}, {}});
  facts.push_back({"instance_us", candidate.instance_median_us, "us", {}, {}});
  constexpr std::int64_t kAlignment = 8;  // elements of 16 bits in 16 bytes
  const std::int64_t length = candidate.scores.empty() ? 0 : candidate.scores.back();
  if (length % kAlignment != 0 && !candidate.unaligned_kernel.empty()) {
    facts.push_back({"odd", length, {}, {}, {}});
    facts.push_back({"odd_kernel", candidate.unaligned_kernel, {}, {}, {}});
  }
  for (const FusionKernel& kernel : candidate.kernels) {
    const Operation* operation = analysis.FindOperation(kernel.operation);
    if (operation == nullptr || operation->entry_point.empty()) continue;
    facts.push_back({"place", operation->entry_point, {}, {}, {}});
    break;
  }
  if (analysis.workload[WorkloadPart::kFramework].value.find("transformers") != std::string::npos) {
    facts.push_back({"flag",
                     "Where the class supports it, `attn_implementation=\"sdpa\"` does the same "
                     "from outside; a class that multiplies by hand has to be edited.",
                     "words",
                     {},
                     {}});
  }
  return facts;
}

void AddChange(const FusionCandidate& candidate, Finding* f) {
  if (candidate.total_us <= 0) return;
  if (!f->change_a) {
    f->change_a = Change{};
    f->change_a->target = candidate.target.empty() ? "one kernel" : candidate.target;
    f->change_a->source = candidate.source.empty() ? "traffic of the chain" : candidate.source;
  }
  f->change_a->parts.push_back(
      {Scaled(*candidate.savings_ms, 1000 / candidate.total_us), candidate.gpu, candidate.gone});
  f->change_a->savings_ms = *f->savings_ms;
}

// What the chains of an eager model are, the most time first: "`Qwen2RMSNorm` (norm, 8 in a row)".
std::string ChainsText(const Analysis& analysis, const Finding& finding) {
  constexpr std::size_t kChainsMax = 4;
  std::vector<const FusionCandidate*> chains;
  for (const FusionCandidate& candidate : analysis.fusion.candidates) {
    if (std::find(finding.members.begin(), finding.members.end(), candidate.id) !=
        finding.members.end()) {
      chains.push_back(&candidate);
    }
  }
  std::stable_sort(
      chains.begin(), chains.end(),
      [](const FusionCandidate* a, const FusionCandidate* b) { return a->total_us > b->total_us; });
  std::string text;
  for (std::size_t i = 0; i < std::min(chains.size(), kChainsMax); ++i) {
    const FusionCandidate& c = *chains[i];
    text += text.empty() ? "" : ", ";
    text += c.module_class.empty() ? OpsText(c) : "`" + c.module_class + "`";
    text += " (" + std::string(FusionText(c.kind)) + ", " + std::to_string(c.kernels.size()) +
            (c.kind == FusionKind::kEpilogue ? " behind a product)" : " in a row)");
  }
  return chains.size() > kChainsMax ? text + " and more" : text;
}

// Chains of an eager model are one lever: whoever compiles it has them all.
void TellEagerChains(const Analysis& analysis, Finding* f) {
  bool norm = false, rotary = false;
  for (const PatternHit& hit : f->patterns) {
    norm = norm || hit.pattern == Pattern::kUnfusedNorm;
    rotary = rotary || hit.pattern == Pattern::kUnfusedRotary;
  }
  std::string by_hand = norm ? "`torch.nn.functional.rms_norm` or `layer_norm`" : "";
  if (rotary) by_hand += std::string(norm ? ", " : "") + "Liger's `liger_rotary_pos_emb`";
  PatternHit hit{Pattern::kEagerChains, {{"parts", ChainsText(analysis, *f), "words", {}, {}}}};
  if (!by_hand.empty()) hit.facts.push_back({"by_hand", std::move(by_hand), "words", {}, {}});
  f->patterns.insert(f->patterns.begin(), std::move(hit));
  f->rule = Pattern::kEagerChains;
  // Chains of one module are that module's.
  std::set<std::string> modules;
  for (const FusionCandidate& candidate : analysis.fusion.candidates) {
    if (std::find(f->members.begin(), f->members.end(), candidate.id) != f->members.end())
      modules.insert(candidate.module_class);
  }
  if (modules.size() == 1 && !modules.begin()->empty()) f->subject = *modules.begin();
  f->path_a = {{Advice::kRule, {}, {}}};
  f->path_b = {NoWay("ATen's kernels for these ops have no setting")};
}

Finding FusionFinding(const Analysis& analysis, const FusionCandidate& candidate, bool eager) {
  const bool attention = candidate.kind == FusionKind::kAttention;
  const std::string& model = analysis.workload[WorkloadPart::kModel].value;
  std::string subject =
      candidate.module_class.empty() ? OpsText(candidate) : candidate.module_class;
  if (eager && analysis.workload[WorkloadPart::kModel].certainty == Certainty::kRecorded &&
      !model.empty()) {
    subject = model;
  }
  Finding f = SystemFinding("kernel_fusion", "Kernel Fusion", std::move(subject));
  f.tier = Tier::kFusion;
  f.bound = attention ? Bound::kUnknown : Bound::kMemory;
  f.method = attention ? EstimateMethod::kTarget : EstimateMethod::kTraffic;
  f.savings_ms = Range{};
  f.path_a = FusionWays(candidate.kind, analysis.context);
  if (attention) f.rule = Pattern::kUnfusedAttention;
  return f;
}

void AddCandidate(const Analysis& analysis, const FusionCandidate& candidate, Finding* f) {
  const auto pattern = PatternOf(candidate.kind);
  const bool told = std::any_of(f->patterns.begin(), f->patterns.end(),
                                [&](const PatternHit& hit) { return hit.pattern == pattern; });
  if (pattern && !told) f->patterns.push_back({*pattern, FusionFacts(analysis, candidate)});
  f->members.push_back(candidate.id);
  f->count += candidate.instances;
  f->time_ms += candidate.total_us / 1000;
  f->exclusive_ms += candidate.exclusive_us / 1000;
  for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
    (*f->savings_ms).*part += (*candidate.savings_ms).*part;
  AddChange(candidate, f);
  if (!candidate.module_path.empty() && f->module_paths.size() < 3)
    f->module_paths.push_back(candidate.module_path);
  for (const std::string& operation : candidate.operations) {
    const Operation* row = analysis.FindOperation(operation);
    if (row != nullptr && !row->row_id.empty() &&
        std::find(f->row_ids.begin(), f->row_ids.end(), row->row_id) == f->row_ids.end()) {
      f->row_ids.push_back(row->row_id);
    }
  }
  if (candidate.confidence == "low" &&
      std::find(f->warnings.begin(), f->warnings.end(), "low_confidence") == f->warnings.end()) {
    f->warnings.emplace_back("low_confidence");
  }
}

}  // namespace

std::set<std::string> EagerChains(const FusionAnalysis& fusion, const WorkContext& context) {
  std::set<std::string> chains, epilogues, modules;
  if (!context.CanCompile()) return chains;
  for (const FusionCandidate& candidate : fusion.candidates) {
    const bool other =
        candidate.kind == FusionKind::kAttention || candidate.kind == FusionKind::kOptimizer;
    if (other || !candidate.savings_ms || candidate.confidence == "low") continue;
    const bool epilogue = candidate.kind == FusionKind::kEpilogue;
    (epilogue ? epilogues : chains).insert(candidate.id);
    if (!epilogue) modules.insert(candidate.module_class);
  }
  if (modules.size() > 1) chains.merge(epilogues);
  return chains;
}

std::vector<Finding> FusionFindings(const Analysis& analysis) {
  std::vector<Finding> out;
  std::map<std::pair<FusionKind, std::string>, std::size_t> index;
  const std::set<std::string> chains = EagerChains(analysis.fusion, analysis.context);
  for (const FusionCandidate& candidate : analysis.fusion.candidates) {
    if (!candidate.savings_ms) continue;
    const bool eager = chains.contains(candidate.id);
    std::pair key{eager ? FusionKind::kChain : candidate.kind,
                  eager ? std::string() : "/" + candidate.module_class + ScoresText(candidate)};
    const auto [found, added] = index.try_emplace(std::move(key), out.size());
    if (added) out.push_back(FusionFinding(analysis, candidate, eager));
    AddCandidate(analysis, candidate, &out[found->second]);
  }
  const auto eager = index.find({FusionKind::kChain, std::string()});
  if (eager != index.end()) TellEagerChains(analysis, &out[eager->second]);
  for (Finding& f : out) {
    f.impact_percent = Scaled(*f.savings_ms, 100 / analysis.totals.window_ms);
    f.upper_bound_ms = f.time_ms;
    Shares(analysis, &f);
    f.priority = PriorityOf(f.percent_of_computation.value_or(0), std::nullopt, IsNotable(f));
  }
  // Attention and norms in parts are known to pay; of other chains only large ones are named.
  std::erase_if(out, [](const Finding& f) {
    const bool small = f.impact_percent->mid < limits::kFindingMin;
    return IsNotable(f) ? small : f.impact_percent->high < limits::kFusionImpactMin;
  });
  Rank(&out);
  return out;
}

}  // namespace jarvis::findings
