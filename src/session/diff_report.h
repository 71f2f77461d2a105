// Two loaded traces aligned, in either mode.
#pragma once

#include <memory>

#include "analysis/align/tables.h"
#include "session/report.h"

namespace jarvis::compat {
struct TraceLensTree;
}

namespace jarvis::session {

class AlignedTraces {
 public:
  ~AlignedTraces();
  AlignedTraces(const AlignedTraces&) = delete;
  AlignedTraces& operator=(const AlignedTraces&) = delete;

  const analysis::TraceDiff& diff() const { return diff_; }
  bool compatible() const { return compatible_; }
  // Of a report: diff_stats; by default what sums it up too, by call and by role.
  std::vector<Table> Tables() const;
  // See analysis::DiffRoles.
  Table Roles() const;
  Table StatsSummary(const Table& diff_stats) const;
  // Of unified_perf_summary of the primary trace. Refers to this object.
  analysis::ExtraColumns Columns() const;

 private:
  friend Result<std::unique_ptr<const AlignedTraces>> AlignLoaded(const LoadedTrace& primary,
                                                                  const LoadedTrace& comparison,
                                                                  Compat compat, bool python_frames,
                                                                  Job& job);
  AlignedTraces() = default;

  bool compatible_ = false;
  const LoadedTrace* traces_[2] = {nullptr, nullptr};
  std::unique_ptr<const compat::TraceLensTree> reference_trees_[2];
  analysis::TraceDiff diff_;
};

// Both traces must outlive the result. `python_frames`: of the compatible mode. There a trace
// without ops is an error, as it is in the reference.
Result<std::unique_ptr<const AlignedTraces>> AlignLoaded(const LoadedTrace& primary,
                                                         const LoadedTrace& comparison,
                                                         Compat compat, bool python_frames,
                                                         Job& job);

}  // namespace jarvis::session
