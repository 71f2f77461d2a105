#include "rocprof/metrics/occupancy.h"

#include <algorithm>

#include "base/text.h"

namespace jarvis::rocprof {
namespace {

constexpr std::int64_t kRegisters = 512;
constexpr std::int64_t kGranule = 8;
constexpr double kSimds = 4;

bool IsUnified(std::string_view arch) {
  arch = arch.substr(0, arch.find(':'));  // "gfx942:sramecc+:xnack-"
  return IsOneOf(arch, {"gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"});
}

std::int64_t LdsBytes(const Agent& agent) {
  if (agent.lds_kib > 0) return agent.lds_kib * 1024;
  return (agent.name.starts_with("gfx950") ? 160 : 64) * std::int64_t{1024};
}

}  // namespace

std::optional<OccupancyLimit> LimitOf(const Dispatch& dispatch, const Agent& agent) {
  if (!IsUnified(agent.name) || dispatch.vgpr == kUnknown || dispatch.vgpr > kRegisters ||
      dispatch.agpr > kRegisters) {
    return std::nullopt;
  }
  OccupancyLimit limit{agent.waves_per_simd > 0 ? static_cast<double>(agent.waves_per_simd) : 8.0,
                       "hardware"};
  // Without the accumulation registers of old files this is an upper bound.
  const std::int64_t used = dispatch.vgpr + std::max<std::int64_t>(dispatch.agpr, 0);
  const std::int64_t given = std::max((used + kGranule - 1) / kGranule * kGranule, kGranule);
  const auto by_registers = static_cast<double>(kRegisters / given);
  if (by_registers < limit.waves_per_simd) limit = {by_registers, "registers"};
  if (dispatch.lds > 0 && dispatch.workgroup > 0) {
    const std::int64_t wave = agent.wave_size > 0 ? agent.wave_size : 64;
    const std::int64_t waves = (dispatch.workgroup + wave - 1) / wave;
    const double fit = static_cast<double>(LdsBytes(agent) / dispatch.lds * waves) / kSimds;
    if (fit < limit.waves_per_simd) limit = {fit, "lds"};
  }
  return limit;
}

}  // namespace jarvis::rocprof
