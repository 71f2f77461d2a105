#include "findings/one/fusion_findings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"
#include "findings/one/attention_change.h"
#include "findings/one/chain_works.h"
#include "findings/one/estimates.h"
#include "findings/one/fusion_facts.h"
#include "findings/one/needs.h"
#include "findings/one/system_findings.h"
#include "findings/one/thresholds.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {
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

// A compiler fuses chains by itself; what it left, what an engine runs op by op, and what an old
// PyTorch runs, needs other ways.
std::vector<Remedy> FusionWays(const FusionCandidate& chain, const WorkContext& context) {
  const FusionKind kind = chain.kind;
  std::vector<Remedy> ways;
  const auto add = [&](Advice advice) { ways.push_back({advice, {}, {}}); };
  if (kind == FusionKind::kAttention) return {{Advice::kFlashAttention, {}, {}}};
  if (kind == FusionKind::kOptimizer) {
    return {{context.before_torch2 ? Advice::kLegacyOptimizer : Advice::kFusedOptimizer, {}, {}}};
  }
  if (context.before_torch2) return {{Advice::kUpgradeTorch, {}, {}}};
  if (context.CanCompile()) add(Advice::kCompile);
  const Advice activation = context.amd ? Advice::kActivationAiter : Advice::kActivationFlashinfer;
  if (context.IsServer() && kind == FusionKind::kEpilogue &&
      FitOf(Info(activation).needs, context) != Fit::kNot)
    add(activation);
  if (kind == FusionKind::kNorm) add(Advice::kFusedNorm);
  if (kind == FusionKind::kRotary) add(Advice::kFuseRotary);
  if (!context.compiled) return ways;
  // Neither a compiler nor a mode of it sees what a program runs op by op beside its compiled
  // parts.
  const bool eager = std::ranges::all_of(
      chain.kernels, [](const FusionKernel& one) { return one.op.starts_with("aten::"); });
  if (eager) {
    add(Advice::kCompileMore);
  } else if (kind != FusionKind::kNorm) {
    add(Advice::kFuseIntoProduct);
  }
  return ways;
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

// "`torch.nn.functional.rms_norm` (norm)": what is there in one kernel for the chains that are.
std::string FunctionsText(const Analysis& analysis, const Finding& finding) {
  std::string text;
  for (const ChainWork& work : ChainWorksOf(analysis, finding)) {
    if (work.what.by_hand.empty()) continue;
    text += (text.empty() ? "" : ", ") + work.what.by_hand + " (" + work.what.name + ")";
  }
  return text;
}

// Waits again and again split what a compiler sees: its parts are compiled one by one.
// `whole`: it is the model.
std::string PartToCompile(const Analysis& analysis, bool* whole) {
  constexpr std::uint64_t kManyWaits = 64;
  if (analysis.context.sync_calls >= kManyWaits) {
    const bool masks =
        analysis.workload[WorkloadPart::kFamily].value.find("mask decoder") != std::string::npos;
    return masks ? "image encoder and mask decoder separately (`torch.compile` on each)"
                 : "the parts between the syncs separately (`torch.compile` on each)";
  }
  *whole = analysis.workload[WorkloadPart::kModel].known();
  return *whole ? "the model (`torch.compile(model)`)"
                : "the functions that call the unfused ops (`torch.compile`)";
}

// Chains of an eager model are one lever: whoever compiles it has them all.
void TellEagerChains(const Analysis& analysis, const std::set<FusionKind>& kinds, Finding* f) {
  std::string by_hand = FunctionsText(analysis, *f);
  PatternHit hit{Pattern::kEagerChains, {}};
  bool whole = false;
  hit.facts.push_back({"part", PartToCompile(analysis, &whole), "words"});
  if (whole) f->action_b = "compile_model";
  if (kinds.contains(FusionKind::kRotary))
    hit.facts.push_back({"rotary", std::string("yes"), "words"});
  if (!by_hand.empty()) {
    hit.facts.push_back({"by_hand", std::move(by_hand), "words"});
    f->path_a = {{Advice::kRule, {}, {}}};
  }
  f->patterns.insert(f->patterns.begin(), std::move(hit));
  f->rule = Pattern::kEagerChains;
  f->path_b = {{Advice::kRule, {}, {}}};
}

// Chains of memory-bound work; attention and optimizers are levers of their own.
bool IsPointwise(FusionKind kind) {
  return kind != FusionKind::kAttention && kind != FusionKind::kOptimizer;
}

constexpr std::string_view kModuleEdge = " / ";

std::vector<std::string> SegmentsOf(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    const std::size_t end = path.find(kModuleEdge);
    segments.emplace_back(path.substr(0, end));
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + kModuleEdge.size());
  }
  return segments;
}

// "Block[*]" -> "Block".
std::string ClassOfSegment(std::string_view segment) {
  return std::string(segment.substr(0, segment.find('[')));
}

// What is one lever: pointwise chains of one model, whatever each of them is.
std::string LeverOf(const FusionCandidate& candidate) {
  const std::string kind = std::to_string(static_cast<int>(candidate.kind));
  if (!IsPointwise(candidate.kind)) return kind + candidate.module_class + ScoresText(candidate);
  if (candidate.module_path.empty()) return "pointwise";
  return "pointwise " + SegmentsOf(candidate.module_path).front();
}

using Candidates = std::vector<const FusionCandidate*>;

// The innermost module that has most of them.
std::string SubjectOf(const Candidates& members) {
  constexpr double kMost = 0.8;
  const FusionCandidate& first = *members.front();
  double all_us = 0;
  std::map<std::vector<std::string>, double> prefixes;
  for (const FusionCandidate* one : members) {
    all_us += one->total_us;
    std::vector<std::string> prefix;
    for (std::string& segment : SegmentsOf(one->module_path)) {
      prefix.push_back(std::move(segment));
      prefixes[prefix] += one->total_us;
    }
  }
  const std::vector<std::string>* best = nullptr;
  for (const auto& [prefix, us] : prefixes) {
    if (us >= kMost * all_us && (best == nullptr || prefix.size() > best->size())) best = &prefix;
  }
  if (best != nullptr && members.size() > 1) return ClassOfSegment(best->back());
  return first.module_class.empty() ? OpsText(first) : first.module_class;
}

bool HasNotable(const Finding& finding) {
  return std::any_of(finding.patterns.begin(), finding.patterns.end(),
                     [](const PatternHit& hit) { return Info(hit.pattern).notable; });
}

// Attention and norms in parts are known to pay; of other chains only large ones are named. A few
// small ones together are none: they join what is worth the change for its own sake. What an
// engine's own kernel loses against the bandwidth is held to what any finding is held to.
bool IsWorthIt(const Candidates& members, bool engine) {
  std::map<std::pair<FusionKind, std::string>, Range> alike;
  for (const FusionCandidate* one : members) {
    Range& sum = alike[{one->kind, one->module_class}];
    for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
      sum.*part += (*one->impact_percent).*part;
  }
  return std::any_of(alike.begin(), alike.end(), [engine](const auto& one) {
    const auto pattern = PatternOf(one.first.first);
    return engine || (pattern && Info(*pattern).notable)
               ? one.second.mid >= limits::kFindingMin
               : one.second.high >= limits::kFusionImpactMin;
  });
}

class FusionFindingMaker {
 public:
  FusionFindingMaker(const Analysis& analysis, const trace::EventStore& events,
                     const tree::CallTree& tree, const analysis::Launches& launches)
      : analysis_(analysis), events_(events), tree_(tree) {
    by_thread_.resize(events.tracks.size());
    for (const analysis::Launch& launch : launches.all())
      by_thread_[launch.thread].push_back(launch.call_ns);
  }

  std::vector<Finding> Run() const {
    std::map<std::string, std::size_t> index;
    std::vector<Candidates> groups;
    for (const FusionCandidate& candidate : analysis_.fusion.candidates) {
      if (!candidate.savings_ms || !candidate.impact_percent) continue;
      const auto [found, added] = index.try_emplace(LeverOf(candidate), groups.size());
      if (added) groups.emplace_back();
      groups[found->second].push_back(&candidate);
    }
    std::vector<Finding> out;
    Candidates small;  // attention whose kernels take little: one call for all, whatever its sizes
    for (const Candidates& members : groups) {
      const bool engine = IsActivationOfEngine(members);
      const bool floor = engine && !PartToStream(*members.front());
      const bool worth = IsWorthIt(members, engine);
      if (worth && !floor) out.push_back(Make(members));
      if (!worth && members.front()->kind == FusionKind::kAttention)
        small.insert(small.end(), members.begin(), members.end());
    }
    if (!small.empty() && SparesLaunches(small)) out.push_back(Make(small));
    return out;
  }

 private:
  // In one call the host has less to do, which may be worth it where the GPU has not much of it.
  bool SparesLaunches(const Candidates& members) const {
    const double host_ms = HostMsOfAttention(OneAttentionEach(events_, tree_, by_thread_, members));
    return 100 * host_ms >= limits::kFindingMin * analysis_.totals.window_ms;
  }

  // An activation that an engine runs behind a product of a library: only its own kernel can get
  // faster.
  bool IsActivationOfEngine(const Candidates& members) const {
    return analysis_.context.IsServer() &&
           std::all_of(members.begin(), members.end(), [](const FusionCandidate* one) {
             return one->kind == FusionKind::kEpilogue && one->kernels.size() == 1;
           });
  }

  // What is left of its time at the bandwidth that large reads and writes reach; absent: it takes
  // as long as a launch does, or is as fast.
  std::optional<double> PartToStream(const FusionCandidate& one) const {
    const Operation* operation = analysis_.FindOperation(one.kernels.front().operation);
    if (operation == nullptr || operation->mean_us < limits::kSmallKernelUs) return std::nullopt;
    const Efficiency& now = operation->efficiency;
    if (!now.tb_per_s || !now.peak_tb_per_s || *now.tb_per_s <= 0) return std::nullopt;
    const double part = 1 - *now.tb_per_s / (limits::kStreamShare * *now.peak_tb_per_s);
    return part > 0 ? std::optional(part) : std::nullopt;
  }

  void HoldAgainstBandwidth(const Candidates& members, Finding* f) const {
    const double part = PartToStream(*members.front()).value_or(0);
    f->efficiency = 100 * limits::kStreamShare * (1 - part);
    const Range saved = {part / 2, 0.8 * part, part};
    f->savings_ms = Scaled(saved, f->time_ms);
    for (Change::Part& one : f->change_a->parts)
      one.saved_part = saved;
    f->change_a->target = "80% of the peak bandwidth";
    f->change_a->source = "estimate";
  }

  Finding Make(const Candidates& members) const {
    const FusionCandidate& first = *members.front();
    const bool attention = first.kind == FusionKind::kAttention;
    Finding f = SystemFinding("kernel_fusion", "Kernel Fusion", SubjectOf(members));
    f.tier = Tier::kFusion;
    f.bound = attention ? Bound::kUnknown : Bound::kMemory;
    f.method = attention ? EstimateMethod::kTarget : EstimateMethod::kTraffic;
    if (attention) f.rule = Pattern::kUnfusedAttention;
    f.savings_ms = Range{};
    Patterns(members, &f);
    f.change_a = Change{};
    f.change_a->target = first.target.empty() ? "one kernel per chain" : first.target;
    f.change_a->source = first.source.empty() ? "the memory traffic of the chains" : first.source;
    for (const FusionCandidate* one : members)
      AddMember(*one, &f);
    const bool engine = IsActivationOfEngine(members);
    if (engine) HoldAgainstBandwidth(members, &f);
    Paths(members, &f);
    if (IsPointwise(first.kind) && !engine) f.change_a->exact = OneKernelEach(members);
    if (attention) f.change_a->exact = OneAttentionEach(events_, tree_, by_thread_, members);
    std::optional<Change::Part> rotation;
    if (TakesRotation(f)) rotation = AddRotation(members, &f);
    f.change_a->savings_ms = *f.savings_ms;
    // Another input is no faster way to the same result.
    if (HasAction(f.path_b) && !attention) f.change_b = f.change_a;
    if (attention && HasFlag(f)) f.change_b = f.change_a;
    if (f.rule == Pattern::kEagerChains && f.change_b) KeepNamed(members, rotation, &f);
    if (!HasAction(f.path_a) && f.change_b) f.change_a.reset();
    f.impact_percent = Scaled(*f.savings_ms, 100 / analysis_.totals.window_ms);
    f.upper_bound_ms = f.time_ms;
    SetShares(analysis_, &f);
    if (first.confidence == "low") f.warnings.emplace_back("low_confidence");
    return f;
  }

  void Patterns(const Candidates& members, Finding* f) const {
    const FusionCandidate& first = *members.front();
    const bool alike = std::all_of(members.begin(), members.end(), [&](const FusionCandidate* one) {
      return one->kind == first.kind;
    });
    if (alike) {
      if (const auto pattern = PatternOf(first.kind))
        f->patterns.push_back({*pattern, FusionFacts(analysis_, first)});
      const bool differ = std::ranges::any_of(
          members, [&](const FusionCandidate* one) { return one->scores != first.scores; });
      if (differ) DropSizes(&f->patterns.back().facts);
      return;
    }
    std::map<FusionKind, double> by_kind;
    std::size_t kernels = 0;
    std::size_t instances = 0;
    for (const FusionCandidate* one : members) {
      by_kind[one->kind] += one->total_us / 1000;
      kernels += one->gpu.size();
      instances += one->ends.size();
    }
    std::vector<Fact> facts = {{"kernels", static_cast<std::int64_t>(kernels), {}},
                               {"chains", static_cast<std::int64_t>(instances), {}}};
    for (const auto& [kind, ms] : by_kind)
      facts.push_back(NumberFact(std::string(FusionText(kind)) + "_ms", ms, "ms"));
    f->patterns.push_back({Pattern::kUnfusedChains, std::move(facts)});
  }

  // Those of one are not those of others.
  static void DropSizes(std::vector<Fact>* facts) {
    static constexpr std::string_view kOfSizes[] = {"score_shape", "instance_us", "odd",
                                                    "odd_kernel"};
    std::erase_if(*facts, [](const Fact& fact) {
      return std::ranges::find(kOfSizes, std::string_view(fact.key)) != std::end(kOfSizes);
    });
  }

  // What fuses all of them goes before what fuses one kind.
  void Paths(const Candidates& members, Finding* f) const {
    if (IsPointwise(members.front()->kind) && analysis_.context.CanCompile()) {
      std::set<FusionKind> kinds;
      for (const FusionCandidate* one : members)
        kinds.insert(one->kind);
      TellEagerChains(analysis_, kinds, f);
      return;
    }
    std::set<Advice> told;
    if (members.front()->kind == FusionKind::kAttention) SettingsOfAttention(f);
    for (const FusionCandidate* one : members) {
      for (const Remedy& remedy : FusionWays(*one, analysis_.context)) {
        auto& path = PathOf(remedy.advice) == Path::kA ? f->path_a : f->path_b;
        if (told.insert(remedy.advice).second) path.push_back(remedy);
      }
    }
  }

  static bool HasFlag(const Finding& f) {
    const std::vector<Fact>& facts = f.patterns.front().facts;
    return std::any_of(facts.begin(), facts.end(),
                       [](const Fact& fact) { return fact.key == "flag"; });
  }

  // What does the same from outside: the input's size, or a setting of the model.
  static void SettingsOfAttention(Finding* f) {
    const std::vector<Fact>& facts = f->patterns.front().facts;
    const auto has = [&](std::string_view key) {
      return std::any_of(facts.begin(), facts.end(),
                         [&](const Fact& fact) { return fact.key == key; });
    };
    const auto of_library = [](const Fact& fact) {
      const auto* place = std::get_if<std::string>(&fact.value);
      return fact.key == "place" && place != nullptr && place->starts_with("transformers/");
    };
    if (has("frames") || HasFlag(*f)) {
      f->path_b = {{Advice::kRule, {}, {}}};
    } else if (std::any_of(facts.begin(), facts.end(), of_library)) {
      f->path_b = {
          NoWay("the class computes attention itself, so no setting of the transformers library "
                "changes it")};
    }
  }

  void AddMember(const FusionCandidate& candidate, Finding* f) const {
    f->members.push_back(candidate.id);
    f->count += candidate.instances;
    f->time_ms += candidate.total_us / 1000;
    f->exclusive_ms += candidate.exclusive_us / 1000;
    for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
      (*f->savings_ms).*part += (*candidate.savings_ms).*part;
    if (candidate.total_us > 0) {
      f->change_a->parts.push_back(
          {Scaled(*candidate.savings_ms, 1000 / candidate.total_us), candidate.gpu});
    }
    if (!candidate.module_path.empty() && f->module_paths.size() < 3)
      f->module_paths.push_back(candidate.module_path);
    for (const std::string& operation : candidate.operations) {
      const Operation* row = analysis_.FindOperation(operation);
      if (row != nullptr && !row->row_id.empty() &&
          std::find(f->row_ids.begin(), f->row_ids.end(), row->row_id) == f->row_ids.end()) {
        f->row_ids.push_back(row->row_id);
      }
    }
  }

  // By hand only the chains get faster that a function is known for.
  void KeepNamed(const Candidates& members, const std::optional<Change::Part>& rotation,
                 Finding* f) const {
    std::vector<FusionCandidate> left;
    left.reserve(members.size());
    Candidates named;
    Change change;
    change.target = f->change_a->target;
    change.source = f->change_a->source;
    const auto add = [&](const Range& ms) {
      for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
        change.savings_ms.*part += ms.*part;
    };
    for (const FusionCandidate* one : members) {
      if (NameOfChain(*one, members).by_hand.empty()) continue;
      const FusionCandidate& own = left.emplace_back(NamedPart(*one));
      named.push_back(&own);
      add(*own.savings_ms);
      if (own.total_us > 0)
        change.parts.push_back({Scaled(*own.savings_ms, 1000 / own.total_us), own.gpu});
    }
    change.exact = OneKernelEach(named);
    if (rotation) {
      change.parts.push_back(*rotation);
      change.exact.emplace_back(analysis::RemoveGpu{rotation->gpu});
      add(Scaled(rotation->saved_part, TimeOf(rotation->gpu)));
    }
    f->change_a = std::move(change);
  }

  double TimeOf(const std::vector<trace::EventIndex>& gpu) const {
    double ms = 0;
    for (const trace::EventIndex e : gpu)
      ms += trace::MicrosOf(events_[e].dur_ns) / 1000;
    return ms;
  }

  // What else turns queries and keys goes as a whole: the one kernel is counted already. Absent:
  // nothing does.
  std::optional<Change::Part> AddRotation(const Candidates& members, Finding* f) const {
    std::set<trace::EventIndex> own;
    for (const FusionCandidate* one : members)
      own.insert(one->gpu.begin(), one->gpu.end());
    std::vector<trace::EventIndex> goes;
    for (const CategoryAnalysis& category : analysis_.categories) {
      for (const Operation& operation : category.operations) {
        if (!IsOfRotation(operation) || operation.cause) continue;
        for (const trace::EventIndex e : operation.gpu) {
          if (!own.contains(e)) goes.push_back(e);
        }
      }
    }
    if (goes.empty()) return std::nullopt;
    const double ms = TimeOf(goes);
    f->time_ms += ms;
    f->exclusive_ms += ms;
    const Range part = {0.6, 0.8, 1};
    for (double Range::*x : {&Range::low, &Range::mid, &Range::high})
      (*f->savings_ms).*x += part.*x * ms;
    f->change_a->parts.push_back({part, goes});
    f->change_a->exact.emplace_back(analysis::RemoveGpu{goes});
    return Change::Part{part, std::move(goes)};
  }

  // Of each instance one kernel stays; the others go with their launches and with what the host
  // does from the first of these to the last.
  std::vector<analysis::Change> OneKernelEach(const Candidates& members) const {
    analysis::SetGpuTime stays;
    analysis::RemoveGpu goes;
    analysis::ScaleHost host;
    host.factor = 0;
    for (const FusionCandidate* one : members) {
      const double left =
          one->total_us > 0 ? 1 - std::min(1.0, one->savings_ms->mid * 1000 / one->total_us) : 1;
      std::size_t from = 0;
      for (const std::size_t end : one->ends) {
        double us = 0;
        for (std::size_t i = from; i < end; ++i)
          us += trace::MicrosOf(events_[one->gpu[i]].dur_ns);
        for (std::size_t i = from; i + 1 < end; ++i)
          goes.events.push_back(one->gpu[i]);
        stays.events.push_back(one->gpu[end - 1]);
        stays.us.push_back(us * left);
        AddHostTime(*one, from, end, &host);
        from = end;
      }
    }
    return {std::move(goes), std::move(stays), std::move(host)};
  }

  // Where nothing else is launched between.
  void AddHostTime(const FusionCandidate& candidate, std::size_t from, std::size_t end,
                   analysis::ScaleHost* host) const {
    if (end - from < 2) return;
    const trace::EventIndex first = tree_.parent(candidate.gpu[from]);
    const trace::EventIndex last = tree_.parent(candidate.gpu[end - 1]);
    if (first == trace::kNoEvent || last == trace::kNoEvent) return;
    const std::uint32_t track = events_[first].track;
    if (events_[last].track != track || events_[last].ts_ns <= events_[first].ts_ns) return;
    const std::vector<std::int64_t>& launches = by_thread_[track];
    const auto begin = std::lower_bound(launches.begin(), launches.end(), events_[first].ts_ns);
    const auto past = std::upper_bound(begin, launches.end(), events_[last].ts_ns);
    if (static_cast<std::size_t>(past - begin) > end - from) return;
    host->stretches.push_back({track, events_[first].ts_ns, events_[last].ts_ns});
  }

  const Analysis& analysis_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  LaunchTimes by_thread_;
};

}  // namespace

bool IsOfRotation(const Operation& operation) {
  const bool moves = operation.name == "aten::cat" || operation.name == "aten::neg" ||
                     operation.name == "aten::mul" || operation.name == "aten::add";
  return moves && (operation.entry_point.ends_with(": rotate_half") ||
                   operation.entry_point.find(": apply_rotary") != std::string::npos);
}

bool TakesRotation(const Finding& finding) {
  return finding.rule == Pattern::kEagerChains &&
         std::any_of(finding.patterns.front().facts.begin(), finding.patterns.front().facts.end(),
                     [](const Fact& fact) { return fact.key == "rotary"; });
}

std::vector<Finding> FusionFindings(const Analysis& analysis, const trace::EventStore& events,
                                    const tree::CallTree& tree,
                                    const analysis::Launches& launches) {
  std::vector<Finding> out = FusionFindingMaker(analysis, events, tree, launches).Run();
  for (Finding& f : out)
    f.priority = PriorityOf(f.percent_of_computation.value_or(0), std::nullopt, HasNotable(f));
  RankFindings(&out);
  return out;
}

}  // namespace jarvis::findings
