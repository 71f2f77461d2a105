#include "findings/one/few_blocks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/tables/summary.h"
#include "base/text.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/thresholds.h"
#include "ledger/kinds/work_kind.h"

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

// Whether most of its time has a grid: copies have none.
bool IsOfKernels(const Calls& calls, const Operation& o) {
  double kernels_us = 0;
  for (const trace::EventIndex e : o.gpu) {
    const trace::Event& event = calls.trace.events()[e];
    if (event.kind == trace::EventKind::kKernel) kernels_us += trace::MicrosOf(event.dur_ns);
  }
  return 2 * kernels_us >= o.gpu_us;
}

std::optional<Cause> FewRows(const Calls& calls, const WorkContext& work, double units,
                             const Operation& o) {
  // Elsewhere nothing makes the kernel anew.
  if (!work.CanCompile()) return std::nullopt;
  if (ShortestUs(calls, o, o.gpu.front()) < limits::kFewBlocksUs) return std::nullopt;
  const auto blocks = BlocksOf(calls.trace, o.gpu.front());
  if (!blocks || static_cast<double>(*blocks) >= limits::kFewRowsShare * units) return std::nullopt;
  Cause cause{Pattern::kFewRowsNorm, "rows", {}, {}, {}, {}};
  cause.facts = {
      Count("blocks", static_cast<double>(*blocks)),
      Count("compute_units", units),
      {"kernel",
       o.kernels.empty() ? std::string()
                         : std::string(analysis::ShortKernelName(o.kernels.front().name)),
       {}}};
  cause.b = Target{{0.3, 0.5, 0.75},
                   "four times as many blocks",
                   "its blocks against the compute units of the device"};
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

// Its grid is the library's choice; those who call it can only give it other work.
bool IsOfLibrary(std::string_view op, std::string_view kernel) {
  static constexpr std::string_view kLibraries[] = {"cublas_cutlass", "cudnn", "hipblaslt_tensile",
                                                    "miopen", "pytorch_native"};
  const std::string_view library = ledger::ClassifyKernelName(kernel).library;
  return op.starts_with("aten::") ||
         std::find(std::begin(kLibraries), std::end(kLibraries), library) != std::end(kLibraries);
}

std::string_view PrecisionOf(const Operation& o) {
  return o.kernels.empty() ? std::string_view()
                           : ledger::ClassifyKernelName(o.kernels.front().name).precision;
}

// The library that computes most of the other products of this precision, and more than `o`; empty:
// there is none, or it is the same one. A name may leave the precision open: "fp8 or int8".
std::string_view LibraryOfOthers(const CategoryAnalysis& category, const Operation& o) {
  const std::string_view own = PrecisionOf(o);
  std::map<std::string_view, double> libraries_us;
  for (const Operation& other : category.operations) {
    const std::string_view precision = PrecisionOf(other);
    if (&other == &o || precision.empty() || own.find(precision) == own.npos) continue;
    libraries_us[other.library] += other.gpu_us;
  }
  const auto most =
      std::ranges::max_element(libraries_us, {}, [](const auto& at) { return at.second; });
  if (most == libraries_us.end() || most->first == o.library || most->second < o.gpu_us) return {};
  return most->first;
}

// What gives its work to more blocks.
Fact SplitFact(const CategoryAnalysis& category, const Operation& o) {
  switch (category.kind) {
    case Kind::kGemm:
      if (const std::string_view others = LibraryOfOthers(category, o); !others.empty())
        return {"others", std::string(others), "words"};
      return {"split", "split K, or merge this GEMM with another one that reads the same input",
              "words"};
    case Kind::kSdpa: return {"split", "split the keys over blocks (flash-decoding)", "words"};
    default: return {"split", "split each row or channel over several blocks", "words"};
  }
}

}  // namespace

std::optional<Cause> FewBlocksCause(const Calls& calls, const WorkContext& work,
                                    const CategoryAnalysis& category, const Operation& o) {
  const Kind kind = category.kind;
  const auto compute_units = ComputeUnitsOf(calls.trace);
  if (!compute_units || o.gpu.empty() || !IsOfKernels(calls, o)) return std::nullopt;
  const auto units = static_cast<double>(*compute_units);
  if (kind == Kind::kNorm) {
    if (auto cause = FewRows(calls, work, units, o)) return cause;
  }
  if (IsRated(kind, o) || IsCollective(o)) return std::nullopt;
  const trace::EventStore& events = calls.trace.events();
  Cause cause{Pattern::kFewBlocks, {}, {}, {}, {}, {}};
  double most = 0, library_us = 0;
  for (const trace::EventIndex e : o.gpu) {
    const auto recorded = BlocksOf(calls.trace, e);
    const auto blocks = static_cast<double>(recorded.value_or(0));
    const double us = trace::MicrosOf(events[e].dur_ns);
    if (!recorded || us < limits::kFewBlocksAnyUs || blocks > limits::kFewBlocksShare * units)
      continue;
    cause.gpu.push_back(e);
    cause.gpu_us += us;
    library_us += IsOfLibrary(o.name, events.name(e)) ? us : 0;
    most = std::max(most, blocks);
  }
  if (cause.gpu_us < limits::kFewBlocksTime * o.gpu_us) return std::nullopt;
  cause.group = o.id;  // each kernel has a way out of its own
  cause.facts = {Count("blocks", most), Count("units", units), Count("idle", units - most)};
  const double mean_us = cause.gpu_us / static_cast<double>(cause.gpu.size());
  const double left = std::max(most / units, limits::kLaunchFloorUs / mean_us);
  cause.a = Target{{0, (1 - left) / 2, 1 - left},
                   "all compute units busy",
                   "its blocks against the compute units of the device"};
  if (2 * library_us > cause.gpu_us) {
    // A small GEMM has few tiles, and nothing to gain.
    if (kind == Kind::kGemm && cause.gpu_us * 100 < limits::kLineShare * calls.computation_us)
      return std::nullopt;
    cause.pattern = Pattern::kFewBlocksLibrary;
    if (kind == Kind::kConvolution || ContainsNoCase(o.kernels.front().name, "batch_norm"))
      cause.facts.push_back({"layout", "use NHWC (`memory_format=torch.channels_last`)", "words"});
    // The compiler calls the same kernels of attention.
    if (work.CanCompile() && kind != Kind::kSdpa) {
      cause.b = cause.a;
      cause.facts.push_back({"place", "it", "words"});
    }
  } else {
    cause.facts.push_back(SplitFact(category, o));
  }
  return cause;
}

}  // namespace jarvis::findings
