#include "findings/one/fusion_savings.h"

#include <algorithm>

#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

std::optional<std::array<double, 3>> AttentionSavings(const FusionCalls& in,
                                                      const FusionInstance& instance, double us) {
  const FusionTraits& scores = in.TraitsOf(instance.calls.front());
  const FusionTraits& values = in.TraitsOf(instance.calls.back());
  if (!scores.flops || !values.flops || in.calls().platform == nullptr) return std::nullopt;
  double size = 2;
  if (scores.spec.ends_with("fp32")) size = 4;
  const double bytes =
      size * scores.batch *
      (scores.m * scores.k + scores.n * scores.k + values.k * values.n + values.m * values.n);
  const perf::Roofline roof =
      perf::RooflineOf({*scores.flops + *values.flops, bytes, scores.spec}, *in.calls().platform);
  if (!roof.roof_us) return std::nullopt;
  const auto saved = [&](double share) {
    return std::max(0.0, us - std::max(*roof.roof_us / share, limits::kLaunchFloorUs));
  };
  return std::array{saved(limits::kAttentionLow), saved(limits::kAttentionMid), saved(1)};
}

}  // namespace

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
  if (instance.producer != kNone) saved += 2 * first.largest_bytes;
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
  if (instance.kind == FusionKind::kAttention && in.TraitsOf(instance.calls.front()).product)
    return AttentionSavings(in, instance, us);
  const auto bytes = FusionBytes(in, instance);
  if (!bytes || us <= 0) return std::nullopt;
  const double now = bytes->first / us;  // bytes per microsecond
  const double usual = std::max(now, baseline.tb_per_s.value_or(0) * 1e6);
  double peak = usual;
  if (in.calls().platform != nullptr && in.calls().platform->mem_bw_gbps)
    peak = std::max(now, *in.calls().platform->mem_bw_gbps * 1e3);
  const auto saved = [&](double bandwidth) {
    // An epilogue needs no kernel of its own.
    const double floor = instance.producer == kNone ? limits::kLaunchFloorUs : 0;
    return std::max(0.0, us - std::max(bytes->second / bandwidth, floor));
  };
  return std::array{saved(now), saved(std::min(usual, peak)), saved(peak)};
}

}  // namespace jarvis::findings
