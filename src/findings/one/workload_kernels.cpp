#include "findings/one/workload_kernels.h"

#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/kernel_categories.h"
#include "findings/one/model_families.h"
#include "findings/one/workload_grids.h"

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

// The network whose convolutions, batch norms, residual sums, pooling and linear layers a forward
// pass has. Convolutions and sums prove each other: a residual network has a stem and one more
// convolution for each of the four stages that changes its sums' sizes (three of basic blocks).
std::string_view NetworkOf(std::uint64_t convolutions, std::uint64_t norms, std::uint64_t sums,
                           std::uint64_t pools, std::uint64_t linear) {
  const std::string_view residual = ResNetOf(convolutions);
  const bool fits = convolutions == 2 * sums + 4 || convolutions == 3 * sums + 5;
  if (!residual.empty() && fits && norms == convolutions && pools == 1 && linear == 1)
    return residual;
  constexpr std::uint64_t kVggPools = 5, kVggLinear = 3;
  const bool vgg = sums == 0 && pools == kVggPools && linear == kVggLinear;
  return vgg && (norms == 0 || norms == convolutions) ? VggOf(convolutions) : std::string_view();
}

// Passes: by the pooling layers that networks have, one or five.
void TellNetwork(const WorkloadFacts& facts, const KernelCounts& counts, std::uint64_t linear,
                 Workload* out) {
  const ForwardCounts forward = CountForward(facts.trace);
  for (const std::uint64_t pools : {std::uint64_t{1}, std::uint64_t{5}}) {
    const std::uint64_t passes = counts.pools / pools;
    const auto each = [&](std::uint64_t count) {
      return passes == 0 || count % passes != 0 ? 0 : count / passes;
    };
    if (passes == 0 || counts.pools % pools != 0 || counts.statistics % passes != 0 ||
        forward.sums % passes != 0)
      continue;
    const std::string_view name = NetworkOf(each(forward.convolutions), each(counts.statistics),
                                            each(forward.sums), pools, each(linear));
    if (name.empty()) continue;
    out->Set(
        WorkloadPart::kModel, fmt::format("{}-like network", name), Certainty::kInferred,
        fmt::format("{} convolutions, {} batch norms, {} residual sums, {} pooling and {} linear "
                    "layers a forward pass",
                    each(forward.convolutions), each(counts.statistics), each(forward.sums), pools,
                    each(linear)));
    return;
  }
}

void TellImages(const WorkloadFacts& facts, Workload* out) {
  const auto images = MapSizesOf(facts.trace);
  if (!images) return;
  const std::string evidence =
      "grids of batch norms, and of the element-wise kernels behind them, which agree in every "
      "layer";
  out->Set(WorkloadPart::kBatch, fmt::format("batch {}", images->batch), Certainty::kInferred,
           evidence);
  // Networks that are known begin with a convolution of stride 2 before their first norm.
  const std::int64_t first = images->sides.front();
  if ((*out)[WorkloadPart::kModel].value.starts_with("ResNet-"))
    out->Set(
        WorkloadPart::kInput, fmt::format("{0} x {0} pixels", 2 * first), Certainty::kInferred,
        fmt::format("the first batch norm has maps of {0} x {0}, behind a stride of 2", first));
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
  const std::uint64_t linear = counts.products % each == 0 ? counts.products / each : 0;
  add(linear, "linear layer");
  out->Set(WorkloadPart::kComponents, std::move(text), Certainty::kInferred,
           "launches of kernels by their names");
  TellNetwork(facts, counts, linear, out);
  TellImages(facts, out);
}

}  // namespace jarvis::findings
