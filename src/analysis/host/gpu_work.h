// The GPU's work as the host sees it: when anything ran, and what each stream was doing at a
// moment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interval.h"
#include "trace/event_store.h"

namespace jarvis::analysis {

// How much of any stretch of time a set of intervals covers; a question costs O(log n).
class CoveredTime {
 public:
  CoveredTime() = default;
  explicit CoveredTime(IntervalSet<std::int64_t> covered);
  std::int64_t Within(std::int64_t start_ns, std::int64_t end_ns) const {
    return end_ns <= start_ns ? 0 : Before(end_ns) - Before(start_ns);
  }
  const IntervalSet<std::int64_t>& intervals() const { return covered_; }

 private:
  std::int64_t Before(std::int64_t at_ns) const;
  IntervalSet<std::int64_t> covered_;
  std::vector<std::int64_t> before_;  // by interval: the length of those before it
};

// Times are nanoseconds on the trace's clock. Const after construction.
class HostGpuWork {
 public:
  explicit HostGpuWork(const trace::EventStore& events);

  // Kernels, copies and memsets that are not left out, by start, then place in the file.
  std::span<const trace::EventIndex> by_start() const { return by_start_; }
  // How long anything ran within [start_ns, end_ns).
  std::int64_t BusyNs(std::int64_t start_ns, std::int64_t end_ns) const {
    return busy_.Within(start_ns, end_ns);
  }

 private:
  std::vector<trace::EventIndex> by_start_;
  CoveredTime busy_;
};

}  // namespace jarvis::analysis
