// Which part of a recording is what the user waits for: the host time of the steps that shares of
// time are of, and the GPU work that it launched. Of a change of the program the part that falls
// into it: what the change does to odd first steps, or to work launched before the recording, is
// nobody's saving.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/frames/time_frames.h"
#include "analysis/simulation/change.h"
#include "base/interval.h"

namespace jarvis::findings {

class TimeScope {
 public:
  explicit TimeScope(const analysis::TimeFrames& frames);

  // Host time, by start; of a recording without odd steps one span without end.
  const IntervalSet<std::int64_t>& spans() const { return spans_; }
  bool Has(std::int64_t host_ns) const;
  // Launched before the recording.
  bool IsForeign(trace::EventIndex gpu) const;
  const std::vector<trace::EventIndex>& foreign() const { return foreign_; }
  // What of the set lies in the spans.
  IntervalSet<std::int64_t> Of(const IntervalSet<std::int64_t>& set) const;
  std::vector<analysis::Change> Of(const analysis::RecordedWork& recorded,
                                   std::span<const analysis::Change> changes) const;

 private:
  bool HasWork(const analysis::RecordedWork& recorded, trace::EventIndex gpu) const;
  analysis::ScaleGpu Part(const analysis::RecordedWork& recorded,
                          const analysis::ScaleGpu& change) const;
  analysis::SetGpuTime Part(const analysis::RecordedWork& recorded,
                            const analysis::SetGpuTime& change) const;
  analysis::RemoveGpu Part(const analysis::RecordedWork& recorded,
                           const analysis::RemoveGpu& change) const;
  analysis::ScaleHost Part(const analysis::ScaleHost& change) const;
  analysis::RemoveProfilerCost Part(const analysis::RemoveProfilerCost& change) const;
  analysis::PinCopies Part(const analysis::RecordedWork& recorded,
                           const analysis::PinCopies& change) const;
  analysis::RemoveWaits Part(const analysis::RecordedWork& recorded,
                             const analysis::RemoveWaits& change) const;

  IntervalSet<std::int64_t> spans_;
  std::vector<trace::EventIndex> foreign_;  // sorted
};

}  // namespace jarvis::findings
