#include "session/diff_report.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/align/roles.h"
#include "session/mode.h"

namespace jarvis::session {
namespace {

// Columns and rows of the matrix of a product, from its performance model.
analysis::ProductShape ShapesOf(const LoadedTrace& trace) {
  auto shapes =
      std::make_shared<std::unordered_map<trace::EventIndex, std::pair<double, double>>>();
  const std::vector<analysis::LauncherWork>& works = trace.Works();
  std::span<const analysis::Launcher> launchers = trace.attribution().launchers;
  for (std::size_t i = 0; i < launchers.size() && i < works.size(); ++i) {
    if (works[i].work == nullptr) continue;
    const auto n = works[i].work->NumberOf("N");
    const auto k = works[i].work->NumberOf("K");
    if (n && k) (*shapes)[launchers[i].op] = {*n, *k};
  }
  return [shapes](trace::EventIndex op) -> std::optional<std::pair<double, double>> {
    const auto found = shapes->find(op);
    if (found == shapes->end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace

std::vector<Table> AlignedTraces::Tables() const {
  std::vector<Table> tables;
  if (reading_.has_summaries) {
    tables.push_back(analysis::DiffSummary(diff_));
    tables.push_back(Roles());
  }
  tables.push_back(reading_.stats(diff_));
  return tables;
}

Table AlignedTraces::Roles() const {
  return analysis::DiffRoles(diff_, ShapesOf(*traces_[0]), ShapesOf(*traces_[1]));
}

Table AlignedTraces::StatsSummary(const Table& diff_stats) const {
  return reading_.stats_summary(diff_stats);
}

analysis::ExtraColumns AlignedTraces::Columns() const {
  return reading_.columns(diff_);
}

Result<std::unique_ptr<const AlignedTraces>> AlignLoaded(const LoadedTrace& primary,
                                                         const LoadedTrace& comparison,
                                                         Compat compat, const DiffSideOptions& how,
                                                         Job& job) {
  std::unique_ptr<AlignedTraces> made(new AlignedTraces);
  const LoadedTrace* traces[2] = {&primary, &comparison};
  std::copy_n(traces, 2, made->traces_);
  const Mode& mode = ModeOf(compat);
  const analysis::DiffReading& reading = made->reading_ = mode.diff();
  made->diff_.rules = reading.rules();
  made->diff_.clock = reading.clock;
  if (reading.in_any_order) made->diff_.rules.second_first = comparison.id() < primary.id();
  analysis::DiffNames names = reading.names();
  for (const int side : {0, 1}) {
    analysis::ReadDiffSide read = mode.read_diff_side(*traces[side], how, names);
    made->refers_to_[side] = std::move(read.refers_to);
    made->diff_.sides[side] = std::move(read.side);
    if (!reading.needs_ops || !made->diff_.sides[side].tree.roots.empty()) continue;
    return Fail(ErrorCode::kBadValue,
                std::string(side == 0 ? "the candidate" : "the baseline") +
                    " trace has no host ops, which the reference aligns by",
                "repeat without compat: the default compares what there is");
  }
  JV_TRY(analysis::AlignTraces(&made->diff_, job));
  return made;
}

}  // namespace jarvis::session
