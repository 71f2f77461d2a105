#include "findings/one/few_blocks.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/tables/summary.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

// The shortest of an operation's kernels of this one's name: first calls are longer, and so are
// several short kernels together.
double ShortestUs(const Calls& calls, const Operation& o, trace::EventIndex kernel) {
  const trace::EventStore& events = calls.trace.events();
  std::int64_t ns = events[kernel].dur_ns;
  for (const trace::EventIndex e : o.gpu) {
    if (events[e].name == events[kernel].name) ns = std::min(ns, events[e].dur_ns);
  }
  return trace::MicrosOf(ns);
}

Fact Count(std::string key, double value) {
  return {std::move(key), static_cast<std::int64_t>(value), {}};
}

std::optional<Cause> FewRows(const Calls& calls, const WorkContext& work,
                             const CauseContext& context, double units, const Operation& o) {
  // Elsewhere nothing makes the kernel anew.
  if (!work.CanCompile()) return std::nullopt;
  if (ShortestUs(calls, o, o.gpu.front()) < limits::kFewBlocksUs) return std::nullopt;
  const auto blocks = context.BlocksOf(o.gpu.front());
  if (!blocks || *blocks >= limits::kFewRowsShare * units) return std::nullopt;
  Cause cause{Pattern::kFewRowsNorm, "rows", {}, {}, {}, {}};
  cause.facts = {
      Count("blocks", *blocks),
      Count("compute_units", units),
      {"kernel",
       o.kernels.empty() ? std::string()
                         : std::string(analysis::ShortKernelName(o.kernels.front().name)),
       {}}};
  cause.b = Target{{0.3, 0.5, 0.75}, "four times as many blocks", "blocks against units"};
  return cause;
}

// A collective takes few blocks on purpose, so that computing goes on beside it.
bool IsCollective(const Operation& o) {
  const auto moves = [](std::string_view name) {
    return analysis::CommFamilyOfKernel(name).has_value();
  };
  return o.name == "record_param_comms" || moves(o.name) ||
         std::any_of(o.kernels.begin(), o.kernels.end(),
                     [&](const KernelShare& kernel) { return moves(kernel.name); });
}

// What is assessed and well used needs no more blocks; of products with shapes the rate tells.
bool IsRated(Kind kind, const Operation& o) {
  const bool product = kind == Kind::kGemm || kind == Kind::kConvolution;
  const double percent = o.efficiency.percent.value_or(0);
  return o.efficiency.percent && (product || percent >= limits::kAcceptable);
}

}  // namespace

std::optional<Cause> FewBlocksCause(const Calls& calls, const WorkContext& work,
                                    const CauseContext& context, Kind kind, const Operation& o) {
  const auto units = context.compute_units();
  if (!units || o.gpu.empty()) return std::nullopt;
  if (kind == Kind::kNorm) {
    if (auto cause = FewRows(calls, work, context, *units, o)) return cause;
  }
  if (IsRated(kind, o) || IsCollective(o)) return std::nullopt;
  const trace::EventStore& events = calls.trace.events();
  Cause cause{Pattern::kFewBlocks, {}, {}, {}, {}, {}};
  double most = 0;
  for (const trace::EventIndex e : o.gpu) {
    const auto blocks = context.BlocksOf(e);
    const double us = trace::MicrosOf(events[e].dur_ns);
    if (!blocks || us < limits::kFewBlocksAnyUs || *blocks > limits::kFewBlocksShare * *units)
      continue;
    cause.gpu.push_back(e);
    cause.gpu_us += us;
    most = std::max(most, *blocks);
  }
  if (cause.gpu_us < limits::kFewBlocksTime * o.gpu_us) return std::nullopt;
  cause.group = o.id;  // each kernel has a way out of its own
  cause.facts = {Count("blocks", most), Count("units", *units), Count("idle", *units - most)};
  const double mean_us = cause.gpu_us / static_cast<double>(cause.gpu.size());
  const double left = std::max(most / *units, limits::kLaunchFloorUs / mean_us);
  cause.a = Target{{0, (1 - left) / 2, 1 - left},
                   "all compute units busy, at most",
                   "blocks against compute units"};
  return cause;
}

}  // namespace jarvis::findings
