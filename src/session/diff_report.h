// Two loaded traces aligned, in either mode.
#pragma once

#include <memory>

#include "analysis/align/diff_reading.h"
#include "session/report.h"

namespace jarvis::session {

// Of the compatible mode; the default reads all there is, of the trace that it is given.
struct DiffSideOptions {
  bool python_frames = false;
  bool captures = false;  // what the reference makes of a trace with its captures
};

class AlignedTraces {
 public:
  AlignedTraces(const AlignedTraces&) = delete;
  AlignedTraces& operator=(const AlignedTraces&) = delete;

  const analysis::TraceDiff& diff() const { return diff_; }
  // Of a report: diff_stats, and what sums it up by call and by role if the reading has that.
  std::vector<Table> Tables() const;
  // See analysis::DiffRoles.
  Table Roles() const;
  Table StatsSummary(const Table& diff_stats) const;
  // Of unified_perf_summary of the primary trace. Refers to this object.
  analysis::ExtraColumns Columns() const;

 private:
  friend Result<std::unique_ptr<const AlignedTraces>> AlignLoaded(const LoadedTrace& primary,
                                                                  const LoadedTrace& comparison,
                                                                  Compat compat,
                                                                  const DiffSideOptions& how,
                                                                  Job& job);
  AlignedTraces() = default;

  analysis::DiffReading reading_;
  const LoadedTrace* traces_[2] = {nullptr, nullptr};
  std::shared_ptr<const void> refers_to_[2];  // of the sides of diff_
  analysis::TraceDiff diff_;
};

// Both traces must outlive the result. In the compatible mode a trace without ops is an error, as
// it is in the reference.
Result<std::unique_ptr<const AlignedTraces>> AlignLoaded(const LoadedTrace& primary,
                                                         const LoadedTrace& comparison,
                                                         Compat compat, const DiffSideOptions& how,
                                                         Job& job);

}  // namespace jarvis::session
