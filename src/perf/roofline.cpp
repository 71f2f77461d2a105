#include "perf/roofline.h"

#include <algorithm>

namespace jarvis::perf {
namespace {

std::optional<Ceiling> CeilingBy(RoofRule rule, const Platform& platform, std::string_view spec) {
  switch (rule) {
    case RoofRule::kAchievable: return CeilingFor(platform, spec);
    case RoofRule::kPeak: return PeakFor(platform, spec);
    case RoofRule::kTraceLens: break;
  }
  const Ceilings& ceilings = TraceLensCeilings(platform);
  const auto found = ceilings.find(spec);
  if (found == ceilings.end()) return std::nullopt;
  return found->second;
}

std::optional<double> RidgeOf(const std::optional<Ceiling>& ceiling, const Platform& platform) {
  return ceiling ? RidgePoint(ceiling->tflops, platform) : std::nullopt;
}

}  // namespace

std::string_view BoundText(Bound bound) {
  return bound == Bound::kCompute ? "COMPUTE_BOUND" : "MEMORY_BOUND";
}

std::optional<double> RidgePoint(double tflops, const Platform& platform) {
  if (!platform.mem_bw_gbps) return std::nullopt;
  return tflops * 1e12 / (*platform.mem_bw_gbps * 1e9);
}

Roofline RooflineOf(const Work& work, const Platform& platform, RoofRule rule) {
  Roofline roofline;
  roofline.ceiling = CeilingBy(rule, platform, work.spec);
  roofline.ridge = RidgeOf(roofline.ceiling, platform);
  roofline.ridge_peak = RidgeOf(PeakFor(platform, work.spec), platform);
  const auto achievable = platform.maf_tflops.find(work.spec);
  if (achievable != platform.maf_tflops.end()) {
    roofline.ridge_achievable = RidgePoint(achievable->second.tflops, platform);
  }
  if (work.flops && work.bytes && *work.bytes > 0) {
    roofline.intensity = *work.flops / *work.bytes;
  }
  const bool arithmetic = work.flops && *work.flops > 0;
  if (rule == RoofRule::kTraceLens && !arithmetic) return roofline;
  // By way of GFLOPS and in this order, so that the last digit is the reference's.
  if (arithmetic && roofline.ceiling) {
    roofline.compute_us = *work.flops / 1e9 * 1e9 / (roofline.ceiling->tflops * 1e12) * 1e6;
  }
  if (work.flops && !arithmetic) roofline.compute_us = 0;
  // Nobody publishes what vector units do with integers; such work is bound by its bytes long
  // before. So the roof is at least the memory's, and a share of it is never too high.
  if (rule != RoofRule::kTraceLens && arithmetic && !roofline.ceiling &&
      work.spec.starts_with("vector_")) {
    roofline.compute_us = 0;
  }
  if (work.bytes && platform.mem_bw_gbps) {
    roofline.memory_us = *work.bytes / (*platform.mem_bw_gbps * 1e9) * 1e6;
  }
  if (!roofline.compute_us || !roofline.memory_us) return roofline;
  // Without arithmetic the bytes set the roof, also when there are none of them.
  const bool compute =
      arithmetic && roofline.ceiling && *roofline.compute_us >= *roofline.memory_us;
  roofline.bound = compute ? Bound::kCompute : Bound::kMemory;
  roofline.roof_us = std::max(*roofline.compute_us, *roofline.memory_us);
  return roofline;
}

}  // namespace jarvis::perf
