// The roofline: the least time a piece of work can take on a platform, and what sets it.
//
//   compute_us = flops / (tflops 10^12) 10^6      memory_us = bytes / (mem_bw_gbps 10^9) 10^6
//   roof_us    = the larger of the two            COMPUTE_BOUND if compute_us >= memory_us
//   intensity  = flops / bytes                    ridge = tflops 10^12 / (mem_bw_gbps 10^9)
//
// Source: S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4), 2009. Bytes are the ones
// that must be moved (every operand once), so the roof is a bound that no implementation beats.
// Where the work's intensity is above the ridge point, arithmetic sets the roof, else bandwidth.
#pragma once

#include <optional>
#include <string_view>

#include "perf/platform.h"

namespace jarvis::perf {

enum class Bound : std::uint8_t { kCompute, kMemory };
std::string_view BoundText(Bound bound);  // "COMPUTE_BOUND", "MEMORY_BOUND"

struct Work {
  std::optional<double> flops;  // absent: not known
  std::optional<double> bytes;
  std::string_view spec;  // matrix_bf16, vector_fp32...; empty: not known
};

// Which rates the roof is made of.
enum class RoofRule : std::uint8_t {
  kAchievable,  // CeilingFor: the achievable rate, the peak where there is none
  kPeak,        // PeakFor
  // As TraceLens has it: its achievable rates only, and no roof at all for work without FLOPs. The
  // other rules give such work (copies, gathers) the roof that its bytes alone have.
  kTraceLens,
};

struct Roofline {
  std::optional<double> compute_us;
  std::optional<double> memory_us;
  // Absent unless both parts are known, or the work has no FLOPs, or it runs on vector units whose
  // rate is not known (integers): then it is the memory's part, which the true roof is not below.
  std::optional<double> roof_us;
  std::optional<Bound> bound;              // with roof_us
  std::optional<double> intensity;         // FLOP/byte
  std::optional<Ceiling> ceiling;          // the rate that compute_us was made with
  std::optional<double> ridge;             // FLOP/byte, with that rate
  std::optional<double> ridge_peak;        // ... with the peak
  std::optional<double> ridge_achievable;  // ... with the achievable rate
};

Roofline RooflineOf(const Work& work, const Platform& platform,
                    RoofRule rule = RoofRule::kAchievable);

// FLOP/byte at which arithmetic at `tflops` takes as long as moving the bytes; absent without a
// bandwidth.
std::optional<double> RidgePoint(double tflops, const Platform& platform);

}  // namespace jarvis::perf
