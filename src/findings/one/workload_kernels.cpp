#include "findings/one/workload_kernels.h"

#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/kernel_categories.h"

namespace jarvis::findings {
namespace {

struct KernelCounts {
  std::map<std::string_view, std::uint64_t> of;  // by category
  std::uint64_t statistics = 0;                  // of batch norm: one a layer
  std::uint64_t pools = 0;                       // forward
  std::uint64_t products = 0;
};

KernelCounts CountsByName(const std::vector<NamedWork>& kernels) {
  KernelCounts counts;
  for (const NamedWork& kernel : kernels) {
    const std::string_view category = CategoryByName(kernel.name);
    counts.of[category] += kernel.count;
    if (ContainsNoCase(kernel.name, "collect_statistics")) counts.statistics += kernel.count;
    if (category == "pooling" && !ContainsNoCase(kernel.name, "backward"))
      counts.pools += kernel.count;
    if (category.empty() &&
        (ContainsNoCase(kernel.name, "cijk_") || ContainsNoCase(kernel.name, "gemm")))
      counts.products += kernel.count;
  }
  return counts;
}

}  // namespace

void TellKernels(const WorkloadFacts& facts, Workload* out) {
  if (facts.trace.recorded().cpu_ops) return;
  const KernelCounts counts = CountsByName(facts.kernels);
  const auto of = [&](std::string_view category) {
    const auto found = counts.of.find(category);
    return found == counts.of.end() ? std::uint64_t{0} : found->second;
  };
  if (of(kConvForward) == 0) return;
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", count, what, count == 1 ? "" : "s");
  };
  add(of(kConvForward), "convolution");
  add(counts.statistics, "batch norm");
  add(counts.pools, "pooling");
  // A linear layer is a product, and backward two more: for its input and for its weight.
  const bool backward = of(kConvBackwardWeights) > 0;
  const std::uint64_t each = backward ? 3 : 1;
  if (counts.products % each == 0) add(counts.products / each, "linear layer");
  out->Set(WorkloadPart::kComponents, std::move(text), Certainty::kInferred,
           "launches of kernels by their names");
}

}  // namespace jarvis::findings
