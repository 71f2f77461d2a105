#include "findings/one/fusion_finder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "findings/one/causal_mask.h"
#include "findings/one/exclusive.h"
#include "findings/one/fusion_calls.h"
#include "findings/one/fusion_instances.h"
#include "findings/one/fusion_savings.h"
#include "findings/one/product_kernels.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

// Instances that are alike: the same ops in the same modules.
using FusionGroup = std::vector<const FusionInstance*>;

EventIndex ScopeEvent(const FusionCalls& in, const FusionInstance& instance) {
  return instance.scope.module == kNoEvent ? in.calls().calls[instance.calls.front()].op
                                           : instance.scope.module;
}

double TimeOf(const FusionCalls& in, const FusionInstance& instance) {
  double us = 0;
  for (const std::uint32_t call : instance.calls)
    us += in.calls().calls[call].kernel_us;
  return us;
}

std::vector<FusionGroup> GroupAlike(const FusionCalls& in,
                                    const std::vector<FusionInstance>& instances) {
  std::vector<FusionGroup> groups;
  std::map<std::string, std::size_t> index;
  for (const FusionInstance& instance : instances) {
    // Attention is told by its shapes; where no module holds it, wherever it stands.
    const bool anywhere =
        instance.kind == FusionKind::kAttention && instance.scope.module == kNoEvent;
    std::string key = fmt::format("{}/{}/{}/", static_cast<int>(instance.kind),
                                  anywhere ? 0 : in.calls().chains->Of(ScopeEvent(in, instance)),
                                  instance.scope.backward ? 1 : 0);
    for (const std::uint32_t call : instance.calls) {
      const Place place = in.calls().place_of[call];
      if (instance.kind == FusionKind::kOptimizer) {
        key += in.NameOf(call);
        key += '/';
      } else {
        key += fmt::format("{}.{}/", place.category, place.operation);
      }
    }
    const auto [found, added] = index.try_emplace(std::move(key), groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(&instance);
  }
  return groups;
}

// By group: the time in which nothing else ran on the GPU.
std::vector<double> AloneUs(const FusionCalls& in, const std::vector<FusionGroup>& groups) {
  std::vector<std::uint32_t> owner(in.events().size(), kNoOwner);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const FusionInstance* instance : groups[g]) {
      for (const std::uint32_t call : instance->calls) {
        for (const EventIndex e : in.calls().calls[call].kernels)
          owner[e] = static_cast<std::uint32_t>(g);
      }
    }
  }
  const auto& work = in.calls().trace.attribution().timeline;
  std::vector<std::uint32_t> owners;
  owners.reserve(work.size());
  for (const EventIndex e : work)
    owners.push_back(owner[e]);
  return ExclusiveUs(in.events(), work, owners, groups.size());
}

void NameCandidate(const FusionCalls& in, const FusionInstance& first,
                   const std::vector<const FusionInstance*>& group, FusionCandidate* c) {
  const auto frames = in.calls().chains->Frames(in.calls().chains->Of(ScopeEvent(in, first)));
  c->module_path = analysis::ModulePath(frames);
  if (first.scope.backward && !c->module_path.empty() && !c->module_path.ends_with("(backward)")) {
    c->module_path += " (backward)";
  }
  if (first.scope.module != kNoEvent) {
    const std::string_view name = in.events().name(first.scope.module);
    const std::string_view module = analysis::ModuleClass(name);
    c->module_class = module.empty() ? name : module;
  }
  c->dependency = !first.shapes_known ? Dependency::kUnknown : Dependency::kPlausible;
  const FusionKind by_name = in.Hint(first);
  const FusionKind by_work = in.Composition(first);
  const bool both = by_name == by_work && by_name != FusionKind::kChain;
  const bool one =
      by_name != FusionKind::kChain || by_work != FusionKind::kChain || first.producer != kNone;
  c->confidence = both ? "high" : one ? "medium" : "low";
  if (c->dependency == Dependency::kUnknown) c->confidence = "low";
  c->example_uid = in.calls().calls[first.calls.front()].uid;
  std::set<std::string> operations;
  for (std::size_t at = 0; at < first.calls.size(); ++at) {
    const std::uint32_t call = first.calls[at];
    const Place place = in.calls().place_of[call];
    const Operation& operation = in.categories()[place.category].operations[place.operation];
    operations.insert(operation.id);
    double us = 0;
    for (const FusionInstance* instance : group)
      us += in.calls().calls[instance->calls[at]].kernel_us;
    FusionKernel kernel;
    kernel.name = in.events().name(in.calls().calls[call].kernels.front());
    kernel.op = operation.name;
    kernel.operation = operation.id;
    kernel.mean_us = us / static_cast<double>(group.size());
    kernel.bytes = in.TraitsOf(call).bytes;
    if (kernel.bytes) ++c->modeled_kernels;
    c->kernels.push_back(std::move(kernel));
  }
  for (const FusionKernel& kernel : c->kernels) {
    const bool unaligned = c->kind == FusionKind::kAttention && IsUnalignedKernel(kernel.name, 0);
    if (unaligned && c->unaligned_kernel.empty())
      c->unaligned_kernel = analysis::ShortKernelName(kernel.name);
  }
  c->scores = first.scores;
  c->after_bias = first.after_bias;
  c->causal_mask = c->kind == FusionKind::kAttention && HasCausalMask(in, first);
  c->head_size = first.head_size;
  if (c->kind == FusionKind::kAttention && c->scores.empty()) {
    c->target = "the rate of one kernel";
    c->source = "the time between its GEMMs, and at most half of theirs";
  }
  for (const std::uint32_t call : first.calls) {
    if (c->kind != FusionKind::kAttention || c->scores.empty()) break;
    if (in.calls().platform == nullptr) break;
    if (!in.TraitsOf(call).product) continue;
    const AttentionTarget target =
        AttentionTargetOf(first.head_size, in.TraitsOf(call).spec, *in.calls().platform);
    c->target = fmt::format("{:.0f} TFLOPS/s, the rate of {}", target.tflops, target.kernels);
    c->source = target.source;
    break;
  }
  c->operations.assign(operations.begin(), operations.end());
  if (const auto bytes = FusionBytes(in, first)) {
    c->bytes_now = bytes->first;
    c->bytes_fused = bytes->second;
  }
}

// Absent: it would save too little to be told of.
std::optional<FusionCandidate> CandidateOf(const FusionCalls& in, const Baseline& baseline,
                                           const FusionGroup& group, double alone_us) {
  const FusionInstance& first = *group.front();
  FusionCandidate c;
  c.kind = first.kind;
  c.instances = group.size();
  c.exclusive_us = alone_us;
  std::vector<double> times;
  double saved[3] = {0, 0, 0};
  bool estimated = true;
  for (const FusionInstance* instance : group) {
    const double us = TimeOf(in, *instance);
    times.push_back(us);
    c.total_us += us;
    const auto savings = FusionSavingsUs(in, *instance, baseline, us);
    estimated = estimated && savings.has_value();
    for (int i = 0; savings && i < 3; ++i)
      saved[i] += (*savings)[static_cast<std::size_t>(i)];
    for (const std::uint32_t call : instance->calls)
      c.gpu.insert(c.gpu.end(), in.calls().calls[call].kernels.begin(),
                   in.calls().calls[call].kernels.end());
    c.ends.push_back(c.gpu.size());
  }
  std::sort(times.begin(), times.end());
  c.instance_min_us = times.front();
  c.instance_median_us = times[times.size() / 2];
  c.instance_max_us = times.back();
  const double cap = std::min(c.total_us, alone_us);
  if (estimated) {
    c.savings_ms = Range{std::min(saved[0], cap) / 1000, std::min(saved[1], cap) / 1000,
                         std::min(saved[2], cap) / 1000};
    if (in.calls().window_us > 0) {
      const double to_percent = 1e5 / in.calls().window_us;
      c.impact_percent = Range{c.savings_ms->low * to_percent, c.savings_ms->mid * to_percent,
                               c.savings_ms->high * to_percent};
    }
  }
  if (!c.impact_percent || c.impact_percent->high < limits::kEstimateMin) return std::nullopt;
  NameCandidate(in, first, group, &c);
  return c;
}

}  // namespace

FusionAnalysis FindFusions(Calls& calls, const std::vector<CategoryAnalysis>& categories,
                           const Baseline& baseline) {
  FusionAnalysis out;
  if (!calls.trace.recorded().cpu_ops) {
    out.notes.emplace_back("no_ops");
    return out;
  }
  if (!calls.trace.recorded().shapes) out.notes.emplace_back("no_shapes");
  const FusionCalls in(calls, categories);
  const std::vector<FusionInstance> instances = FindFusionInstances(in);
  const std::vector<FusionGroup> groups = GroupAlike(in, instances);
  const std::vector<double> alone = AloneUs(in, groups);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (auto candidate = CandidateOf(in, baseline, groups[g], alone[g]))
      out.candidates.push_back(std::move(*candidate));
  }
  std::stable_sort(out.candidates.begin(), out.candidates.end(),
                   [](const FusionCandidate& a, const FusionCandidate& b) {
                     const double x = a.savings_ms ? a.savings_ms->mid : 0;
                     const double y = b.savings_ms ? b.savings_ms->mid : 0;
                     return x != y ? x > y : a.total_us > b.total_us;
                   });
  for (std::size_t i = 0; i < out.candidates.size(); ++i) {
    out.candidates[i].id = fmt::format("fusion.{}", i + 1);
    out.total_us += out.candidates[i].total_us;
  }
  return out;
}

}  // namespace jarvis::findings
