#include "findings/one/fusion_savings.h"

#include <algorithm>

#include "findings/one/published_rates.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

// What a fused kernel takes however little it does.
double FusedFloorUs(const FusionCalls& in) {
  return std::max(limits::kLaunchFloorUs, in.calls().kernel_floor_us);
}

// Time that a fused kernel takes at the rate that such kernels reach, never below memory's part.
std::optional<std::array<double, 3>> AttentionSavings(const FusionCalls& in,
                                                      const FusionInstance& instance, double us) {
  const perf::Platform* platform = in.calls().platform;
  double flops = 0;
  const FusionTraits* product = nullptr;
  for (const std::uint32_t call : instance.calls) {
    const FusionTraits& traits = in.TraitsOf(call);
    if (!traits.product) continue;
    if (!traits.flops) return std::nullopt;
    flops += *traits.flops;
    product = &traits;
  }
  if (platform == nullptr || product == nullptr) return std::nullopt;
  const AttentionTarget target = AttentionTargetOf(instance.head_size, product->spec, *platform);
  if (target.tflops <= 0 || instance.scores.empty()) return std::nullopt;
  const double size = product->spec.ends_with("32") ? 4 : 2;
  const double rows = Elements(instance.scores) / static_cast<double>(instance.scores.back());
  const double keys = product->batch * static_cast<double>(instance.scores.back());
  const double bytes = 2 * size * instance.head_size * (rows + keys);
  const double memory_us =
      platform->mem_bw_gbps ? bytes / (limits::kStreamShare * *platform->mem_bw_gbps * 1e3) : 0;
  const auto saved = [&](double share) {
    const double fused = flops / (share * target.tflops * 1e6);
    return std::max(0.0, us - std::max({fused, memory_us, FusedFloorUs(in)}));
  };
  return std::array{saved(limits::kAttentionLow), saved(limits::kAttentionMid), saved(1)};
}

// Without shapes what a chain moves is told by time alone. One kernel reads and writes at least
// what the longest of its kernels does, and mostly somewhat more: operands that the others read
// first.
std::array<double, 3> SavingsByTime(const FusionCalls& in, const FusionInstance& instance,
                                    double us) {
  double longest = 0;
  for (const std::uint32_t call : instance.calls)
    longest = std::max(longest, in.calls().calls[call].kernel_us);
  const auto saved = [&](double fused) {
    return std::max(0.0, us - std::max(fused, FusedFloorUs(in)));
  };
  const double low = saved(limits::kFusedTimeMost * longest);
  const double high = saved(longest);
  return {low, (low + high) / 2, high};
}

// The same of attention: what lies between its products goes, and of the products, whose results
// are the scores, a part.
std::array<double, 3> AttentionSavingsByTime(const FusionCalls& in,
                                             const FusionInstance& instance) {
  double between = 0;
  double products = 0;
  for (const std::uint32_t call : instance.calls)
    (in.TraitsOf(call).product ? products : between) += in.calls().calls[call].kernel_us;
  return {between / 2, between, between + products / 2};
}

bool IsOfTorch(const FusionCalls& in, std::uint32_t call) {
  return in.calls().NameOf(in.calls().calls[call]).starts_with("aten::");
}

// No compiler reaches into a product of another library, so what comes after it keeps its traffic:
// a better kernel of its own moves that at the bandwidth that large reads and writes reach.
std::optional<std::array<double, 3>> OwnKernelSavings(const FusionCalls& in, double bytes,
                                                      double us) {
  const perf::Platform* platform = in.calls().platform;
  if (platform == nullptr || !platform->mem_bw_gbps) return std::nullopt;
  const auto saved = [&](double share) {
    const double least = bytes / (share * *platform->mem_bw_gbps * 1e3);
    return std::max(0.0, us - std::max(least, FusedFloorUs(in)));
  };
  return std::array{saved(limits::kRoofLow), saved(limits::kRoofMid), saved(limits::kStreamShare)};
}

}  // namespace

AttentionTarget AttentionTargetOf(double head_size, std::string_view spec,
                                  const perf::Platform& platform) {
  const bool half = spec.ends_with("bf16") || spec.ends_with("fp16");
  const PublishedAttention* rate = half ? PublishedAttentionFor(platform, head_size) : nullptr;
  if (rate != nullptr) return {rate->tflops, std::string(rate->kernels), std::string(rate->source)};
  const auto peak = perf::PeakFor(platform, spec);
  return {peak ? limits::kAttentionOther * peak->tflops : 0, "fused kernels",
          "share of the peak of " + platform.name + ", for want of published rates"};
}

std::optional<std::pair<double, double>> FusionBytes(const FusionCalls& in,
                                                     const FusionInstance& instance) {
  double now = 0;
  double largest = 0;
  double saved = 0;
  std::size_t modeled = 0;
  for (std::size_t i = 0; i < instance.calls.size(); ++i) {
    const FusionTraits& traits = in.TraitsOf(instance.calls[i]);
    if (traits.bytes) ++modeled;
    now += traits.bytes.value_or(0);
    largest = std::max(largest, traits.largest_bytes);
    if (i + 1 < instance.calls.size()) {
      const FusionTraits& next = in.TraitsOf(instance.calls[i + 1]);
      saved += 2 * std::min(traits.output_bytes(), next.largest_bytes);
    }
  }
  if (now <= 0 || 2 * modeled < instance.calls.size()) return std::nullopt;
  const FusionTraits& first = in.TraitsOf(instance.calls.front());
  const FusionTraits& last = in.TraitsOf(instance.calls.back());
  // The kernel that adds the bias stays, and reads and writes as much as before.
  if (instance.after_bias)
    return std::pair(now, std::max(0.0, now - saved - 2 * first.largest_bytes));
  // A library's product takes in no op of others: what goes is one pass over its result, which the
  // kernel of a neighbour makes.
  if (instance.producer != kNone) saved += first.largest_bytes;
  // At least the result is written and, but for an epilogue, the input read.
  double fused = std::max(
      now - saved, last.output_bytes() + (instance.producer == kNone ? first.largest_bytes : 0.0));
  // A normalisation reads its input once and writes once; its backward pass reads two.
  if (instance.kind == FusionKind::kNorm)
    fused = std::min(fused, (instance.scope.backward ? 3 : 2) * largest);
  return std::pair(now, std::min(fused, now));
}

std::optional<std::array<double, 3>> FusionSavingsUs(const FusionCalls& in,
                                                     const FusionInstance& instance,
                                                     const Baseline& baseline, double us) {
  if (instance.kind == FusionKind::kAttention && !instance.scores.empty())
    return AttentionSavings(in, instance, us);
  if (!in.calls().trace.recorded().shapes) {
    if (instance.kind == FusionKind::kAttention) return AttentionSavingsByTime(in, instance);
    return SavingsByTime(in, instance, us);
  }
  const auto bytes = FusionBytes(in, instance);
  if (!bytes || us <= 0) return std::nullopt;
  if (instance.producer != kNone && !IsOfTorch(in, instance.producer))
    return OwnKernelSavings(in, bytes->first, us);
  const double now = bytes->first / us;  // bytes per microsecond
  const double usual = std::max(now, baseline.tb_per_s.value_or(0) * 1e6);
  double peak = usual;
  if (in.calls().platform != nullptr && in.calls().platform->mem_bw_gbps)
    peak = std::max(now, limits::kStreamShare * *in.calls().platform->mem_bw_gbps * 1e3);
  const auto saved = [&](double bandwidth) {
    // An epilogue needs no kernel of its own.
    const double floor = instance.producer == kNone ? FusedFloorUs(in) : 0;
    return std::max(0.0, us - std::max(bytes->second / bandwidth, floor));
  };
  return std::array{saved(now), saved(std::min(usual, peak)), saved(peak)};
}

}  // namespace jarvis::findings
