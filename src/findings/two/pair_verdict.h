// Is the candidate faster, and do the recordings show it: the difference of two units, what of it
// is work and what is waiting or idle, and how large it is beside the spread of what was recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "findings/two/balance.h"
#include "findings/two/noise.h"

namespace jarvis::findings {

// How sure a difference is.
enum class Proof : std::uint8_t {
  kNoWork,       // a side has no GPU work
  kSteps,        // the steps of the two sides differ by more than their spread explains
  kSpread,       // several steps a side, and their spread explains it
  kAboveUsual,   // one unit on a side: more than runs of unchanged code usually differ by
  kWithinUsual,  // ... and not more
};

// Whether both sides communicate the same.
enum class CommLikeness : std::uint8_t {
  kUnlike,
  kCalls,  // as many calls of the same kernels; sizes are not recorded, and the time is nearly so
  kSizes,  // as many of the same sizes
};

// What the units of one side's base take, milliseconds.
Sample UnitsOf(const analysis::BaseOfTime& base);

// Do two samples of at least two differ by more than chance (NoiseOf)?
bool DifferBySteps(const Sample& a, const Sample& b);

// By how much recordings of unchanged code differ: of the wall, of the GPU's own work. Measured on
// repeated recordings of one program on one machine: 0.0 to 3.2 % of the wall, nearly all of it
// idle time, and within 0.9 % of the GPU's busy time.
inline constexpr double kUsualWall = 0.03;
inline constexpr double kUsualWork = 0.01;

// Differences of a unit, candidate less baseline; work_ms to rest_ms add up to it.
struct DifferenceVerdict {
  Proof proof = Proof::kNoWork;
  Sample spread[2];
  std::optional<double> clock_factor;  // all kernels changed by it: see OneFactor
  double ms = 0;
  double work_ms = 0;  // GPU work without communication and copies from and to the host
  double comm_ms = 0;  // exposed; of one rank waiting and transfer in one
  double copy_ms = 0;  // exposed, between host and device
  double idle_ms = 0;
  double rest_ms = 0;  // unrecorded
  bool any_comm = false;
  CommLikeness comm = CommLikeness::kUnlike;
  bool work_changed = false;  // by more than usual
};

DifferenceVerdict JudgeDifference(const Balance& balance, const analysis::BaseOfTime& candidate,
                                  const analysis::BaseOfTime& baseline);

}  // namespace jarvis::findings
