#include "rocprof/metrics/metrics.h"

#include <algorithm>

#include "base/check.h"
#include "perf/tensile_name.h"

namespace jarvis::rocprof {
namespace {

constexpr double kSimdsPerCu = 4;

std::optional<double> Positive(std::int64_t value) {
  if (value <= 0) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> Quotient(double a, double b, bool any) {
  if (!any || !(b > 0)) return std::nullopt;
  return a / b;
}

}  // namespace

std::string_view CyclesText(Cycles cycles) {
  switch (cycles) {
    case Cycles::kNone: return "";
    case Cycles::kGrbm: return "GRBM_GUI_ACTIVE";
    case Cycles::kMaxClock: return "max_clock";
    case Cycles::kGivenClock: return "given_clock";
  }
  return "";
}

MetricRules::MetricRules(const Capture& capture, std::optional<double> clock_mhz)
    : clock_mhz_(clock_mhz) {
  const auto id = [&](std::string_view name) -> std::optional<std::uint32_t> {
    const auto found = std::find(capture.counters.begin(), capture.counters.end(), name);
    if (found == capture.counters.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - capture.counters.begin());
  };
  busy_cu_ = id("SQ_BUSY_CU_CYCLES");
  wave_cycles_ = id("SQ_WAVE_CYCLES");
  waves_ = id("SQ_WAVES");
  if (!waves_) waves_ = id("SQ_WAVES_sum");
  busy_ = id("SQ_BUSY_CYCLES");
  mfma_ = id("SQ_INSTS_MFMA");
  if (!mfma_) mfma_ = id("SQ_INSTS_VALU_MFMA");
  valu_ = id("SQ_INSTS_VALU");
  mfma_busy_ = id("SQ_VALU_MFMA_BUSY_CYCLES");
  gui_ = id("GRBM_GUI_ACTIVE");
  for (std::uint32_t i = 0; i < capture.counters.size(); ++i) {
    if (capture.counters[i].starts_with("SQ_INSTS_VALU_MFMA_MOPS_")) mops_.push_back(i);
  }
}

std::optional<MetricRules::Value> MetricRules::Find(const Dispatch& dispatch,
                                                    std::optional<std::uint32_t> counter) const {
  const CounterValue* found = counter ? dispatch.Find(*counter) : nullptr;
  if (found == nullptr) return std::nullopt;
  return Value{found->value, found->pass};
}

std::optional<double> MetricRules::CyclesOf(const DispatchRef& of, std::int32_t pass,
                                            Cycles source) const {
  const Agent* agent = of.agent();
  if (source == Cycles::kGrbm) {
    if (agent == nullptr || agent->xccs <= 0) return std::nullopt;
    const CounterValue* best = nullptr;
    for (const CounterValue& one : of.dispatch->counters) {
      if (one.counter == *gui_ && (best == nullptr || one.pass == pass)) best = &one;
      if (best != nullptr && best->pass == pass) break;
    }
    if (best == nullptr || !(best->value > 0)) return std::nullopt;
    return best->value / static_cast<double>(agent->xccs);
  }
  std::optional<double> mhz = clock_mhz_;
  if (source == Cycles::kMaxClock)
    mhz = agent == nullptr ? std::nullopt : Positive(agent->clock_mhz);
  const auto duration = of.dispatch->duration_ns();
  if (!mhz || !duration) return std::nullopt;
  return static_cast<double>(*duration) * *mhz / 1000;
}

Cycles MetricRules::SourceFor(std::span<const DispatchRef> dispatches) const {
  if (gui_) {
    for (const DispatchRef& one : dispatches) {
      if (CyclesOf(one, 0, Cycles::kGrbm)) return Cycles::kGrbm;
    }
  }
  return clock_mhz_ ? Cycles::kGivenClock : Cycles::kMaxClock;
}

template <typename Units>
std::optional<double> MetricRules::PerCycle(std::span<const DispatchRef> dispatches, Cycles source,
                                            std::optional<std::uint32_t> counter, double factor,
                                            Units units) const {
  double above = 0;
  double below = 0;
  bool any = false;
  for (const DispatchRef& one : dispatches) {
    const Agent* agent = one.agent();
    const std::optional<Value> value = Find(*one.dispatch, counter);
    if (agent == nullptr || !value) continue;
    const std::optional<double> cycles = CyclesOf(one, value->pass, source);
    const std::optional<double> count = units(*agent);
    if (!cycles || !count) continue;
    above += factor * value->value;
    below += *cycles * *count;
    any = true;
  }
  return Quotient(above, below, any);
}

std::optional<double> MetricRules::Ratio(std::span<const DispatchRef> dispatches,
                                         std::optional<std::uint32_t> a,
                                         std::optional<std::uint32_t> b) const {
  double above = 0;
  double below = 0;
  bool any = false;
  for (const DispatchRef& one : dispatches) {
    const std::optional<Value> x = Find(*one.dispatch, a);
    const std::optional<Value> y = Find(*one.dispatch, b);
    if (!x || !y) continue;
    above += x->value;
    below += y->value;
    any = true;
  }
  return Quotient(above, below, any);
}

std::optional<double> MetricRules::Mean(std::span<const DispatchRef> dispatches,
                                        std::optional<std::uint32_t> counter) const {
  double sum = 0;
  double count = 0;
  for (const DispatchRef& one : dispatches) {
    const std::optional<Value> value = Find(*one.dispatch, counter);
    if (!value) continue;
    sum += value->value;
    ++count;
  }
  return Quotient(sum, count, true);
}

Metrics MetricRules::Of(std::span<const DispatchRef> dispatches, std::string_view kernel) const {
  JV_DCHECK(std::all_of(dispatches.begin(), dispatches.end(), [](const DispatchRef& one) {
    return one.process != nullptr && one.dispatch != nullptr;
  }));
  Metrics out;
  const Cycles source = SourceFor(dispatches);
  const auto cus = [](const Agent& agent) { return Positive(agent.cus); };
  const auto cu_util = [&](std::span<const DispatchRef> some) {
    return PerCycle(some, source, busy_cu_, 100, cus);
  };
  out.cu_util_pct = cu_util(dispatches);
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    const std::optional<double> one = cu_util(dispatches.subspan(i, 1));
    if (!one) continue;
    out.cu_util_min_pct = std::min(*one, out.cu_util_min_pct.value_or(*one));
    out.cu_util_max_pct = std::max(*one, out.cu_util_max_pct.value_or(*one));
  }
  out.waves_per_cu = PerCycle(dispatches, source, wave_cycles_, 4, cus);
  out.occupancy_pct = PerCycle(dispatches, source, wave_cycles_, 400, [&](const Agent& agent) {
    const auto most = Positive(agent.waves_per_cu);
    const auto count = cus(agent);
    return most && count ? std::optional(*count * *most) : std::nullopt;
  });
  out.se_busy_pct = PerCycle(dispatches, source, busy_, 100,
                             [](const Agent& agent) { return Positive(agent.shader_engines); });
  out.mfma_util_pct = PerCycle(dispatches, source, mfma_busy_, 100, [&](const Agent& agent) {
    const auto count = cus(agent);
    return count ? std::optional(*count * kSimdsPerCu) : std::nullopt;
  });
  if (out.cu_util_pct || out.waves_per_cu || out.se_busy_pct || out.mfma_util_pct)
    out.cycles = source;
  if (const auto quads = Ratio(dispatches, wave_cycles_, waves_)) out.wave_cycles = 4 * *quads;
  out.waves = Mean(dispatches, waves_);
  out.mfma_per_wave = Ratio(dispatches, mfma_, waves_);
  out.valu_per_wave = Ratio(dispatches, valu_, waves_);
  if (const auto share = Ratio(dispatches, mfma_, valu_)) out.mfma_share_pct = 100 * *share;
  for (const std::uint32_t counter : mops_) {
    const std::optional<double> mean = Mean(dispatches, counter);
    if (mean) out.mfma_flop = out.mfma_flop.value_or(0) + 512 * *mean;
  }
  const auto name = perf::ParseTensileName(kernel);
  const auto flop = name ? perf::FlopPerMfma(*name) : std::nullopt;
  const auto instructions = Mean(dispatches, mfma_);
  if (flop && instructions) out.mfma_flop_est = *instructions * *flop;
  return out;
}

}  // namespace jarvis::rocprof
