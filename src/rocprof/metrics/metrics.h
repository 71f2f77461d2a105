// What counters say about kernels.
//
// Meanings (AMD, CDNA 2 and 3): SQ_BUSY_CU_CYCLES counts quad-cycles in which a compute unit is
// busy for each of its four SIMD groups, so its sum has the size of CU cycles; SQ_WAVE_CYCLES
// counts quad-cycles that waves are resident; SQ_BUSY_CYCLES cycles of a shader engine with a wave;
// GRBM_GUI_ACTIVE cycles of activity, summed over XCCs. None of them is a percentage.
//
//   G                       = GRBM_GUI_ACTIVE / XCCs, cycles of a dispatch; where it was not
//                             collected, duration x clock: an upper bound of G
//   CU utilisation %        = 100 SQ_BUSY_CU_CYCLES / (G CUs)
//   occupancy %             = 100 4 SQ_WAVE_CYCLES / (G CUs waves-per-CU)
//   waves per CU            = 4 SQ_WAVE_CYCLES / (G CUs)
//   wave lifetime, cycles   = 4 SQ_WAVE_CYCLES / SQ_WAVES
//   shader engine busy %    = 100 SQ_BUSY_CYCLES / (G shader engines)
//   MFMA share %            = 100 SQ_INSTS_MFMA / SQ_INSTS_VALU, which counts both
//   MFMA utilisation %      = 100 SQ_VALU_MFMA_BUSY_CYCLES / (G CUs 4)
//   MFMA FLOP               = 512 sum of SQ_INSTS_VALU_MFMA_MOPS_*
//
// Of several dispatches each is the ratio of sums over those that have what it needs, never the
// mean of ratios. Absent: nothing has it, or the divisor is 0.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocprof/read/records.h"

namespace jarvis::rocprof {

// Where G comes from: of a group of dispatches, GRBM_GUI_ACTIVE if any of them has it, and then of
// those alone.
enum class Cycles : std::uint8_t { kNone, kGrbm, kMaxClock, kGivenClock };
std::string_view CyclesText(Cycles cycles);  // "", "GRBM_GUI_ACTIVE", "max_clock", "given_clock"

struct Metrics {
  Cycles cycles = Cycles::kNone;  // of the five that need G
  std::optional<double> cu_util_pct;
  std::optional<double> cu_util_min_pct;  // over dispatches
  std::optional<double> cu_util_max_pct;
  std::optional<double> occupancy_pct;
  std::optional<double> waves_per_cu;
  std::optional<double> se_busy_pct;
  std::optional<double> mfma_util_pct;
  std::optional<double> wave_cycles;  // lifetime of a wave
  std::optional<double> waves;        // of a dispatch
  std::optional<double> mfma_per_wave;
  std::optional<double> valu_per_wave;
  std::optional<double> mfma_share_pct;
  std::optional<double> mfma_flop;      // of a dispatch
  std::optional<double> mfma_flop_est;  // of a dispatch: SQ_INSTS_MFMA and the name's instruction
};

// A dispatch with the process that it is of.
struct DispatchRef {
  const Process* process = nullptr;
  const Dispatch* dispatch = nullptr;

  const Agent* agent() const { return process->AgentOf(*dispatch); }
};

// The counters that metrics need, by their numbers in a capture.
class MetricRules {
 public:
  // `clock_mhz`: the engine clock while the job ran, instead of the highest that agents have.
  MetricRules(const Capture& capture, std::optional<double> clock_mhz);

  // REQUIRES: all are of the capture. `kernel`: their common name, for mfma_flop_est; may be empty.
  Metrics Of(std::span<const DispatchRef> dispatches, std::string_view kernel) const;

 private:
  struct Value {
    double value = 0;
    std::int32_t pass = 0;
  };
  std::optional<Value> Find(const Dispatch& dispatch, std::optional<std::uint32_t> counter) const;
  // G of a dispatch; the pass of the value that is to be divided counts first.
  std::optional<double> CyclesOf(const DispatchRef& of, std::int32_t pass, Cycles source) const;
  Cycles SourceFor(std::span<const DispatchRef> dispatches) const;

  // 100 sum(factor value) / sum(G units(agent)).
  template <typename Units>
  std::optional<double> PerCycle(std::span<const DispatchRef> dispatches, Cycles source,
                                 std::optional<std::uint32_t> counter, double factor,
                                 Units units) const;
  // sum(a) / sum(b) over dispatches that have both.
  std::optional<double> Ratio(std::span<const DispatchRef> dispatches,
                              std::optional<std::uint32_t> a, std::optional<std::uint32_t> b) const;
  std::optional<double> Mean(std::span<const DispatchRef> dispatches,
                             std::optional<std::uint32_t> counter) const;

  std::optional<std::uint32_t> busy_cu_, wave_cycles_, waves_, busy_, mfma_, valu_, mfma_busy_,
      gui_;
  std::vector<std::uint32_t> mops_;
  std::optional<double> clock_mhz_;
};

}  // namespace jarvis::rocprof
