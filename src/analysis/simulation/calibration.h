// The constants of a trace: how long a launch takes to reach the GPU, how far apart works of a
// stream are. Means over cases in which nothing else can have held the work up.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/simulation/recorded_work.h"
#include "analysis/simulation/samples.h"

namespace jarvis::analysis {

// A work starts at the earliest so long after its launch call began or ended.
struct LaunchAnchor {
  bool at_end = false;
  double delay = 0;
};

class Calibration {
 public:
  explicit Calibration(const RecordedWork& recorded);

  // What a call of that name takes.
  double UsualCall(StringId name) const;
  // What a work waits for after the one before it on its stream. Negative where kernels of that
  // name were seen to start before it ended (programmatic dependent launch).
  double GapBefore(std::uint32_t work) const;
  // REQUIRES: the work has a call. `waits`: the host waits in that call.
  LaunchAnchor AnchorOf(std::uint32_t work, bool waits) const;
  // From the begin of a call that waits to the start of its work.
  double DelayOfWaiting(std::uint32_t work) const;

 private:
  struct Delays {
    double from_begin = 0;
    double from_end = 0;
    bool at_end = false;  // the end of the call tells the start better
  };
  static Delays MakeDelays(std::span<const double> from_begin, std::span<const double> from_end);
  std::uint64_t LaunchKey(const GpuWork& work) const;
  const Delays& DelaysOf(const GpuWork& work) const;
  void MeasureCalls();
  void MeasureDelays();
  void MeasureGaps();
  void MeasureCopies();

  const RecordedWork& recorded_;
  std::vector<bool> ordered_calls_;  // a stream was told to wait just before
  std::unordered_map<StringId, double> usual_call_;
  std::unordered_map<std::uint64_t, Delays> delays_;  // by name of the call, kind of work
  Delays all_delays_;
  std::unordered_map<StringId, double> gap_by_name_;
  double gap_by_kinds_[16][16] = {};
  bool has_gap_[16][16] = {};
  double gap_ = 0;
  SampleTable copies_;  // delays of copies by names of call and copy
};

}  // namespace jarvis::analysis
