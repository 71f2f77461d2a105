#include "session/diff_report.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/align/names.h"
#include "analysis/align/roles.h"
#include "compat/tracelens_diff.h"

namespace jarvis::session {
namespace {

analysis::DiffSide SideOf(const LoadedTrace& trace, analysis::DiffNames& names) {
  const tree::CallTree& tree = trace.tree();
  analysis::DiffSide side;
  side.events = &trace.events();
  side.tree = analysis::MakeDiffTree(trace.events(), tree, names);
  side.op_of = [&trace](trace::EventIndex e) {
    return trace.tree().Enclosing(trace.events(), e, trace::EventKind::kCpuOp);
  };
  // Backward work belongs to the module of its forward op.
  side.caller = [&tree](trace::EventIndex e) {
    if (tree.position(e) == tree::kNoPosition) return tree.parent(e);
    const trace::EventIndex forward = tree.ForwardOf(e);
    return forward != trace::kNoEvent ? forward : tree.parent(e);
  };
  side.unlinked.assign(tree.unlinked().begin(), tree.unlinked().end());
  return side;
}

// Columns and rows of the matrix of a product, from its performance model.
analysis::ProductShape ShapesOf(const LoadedTrace& trace) {
  auto shapes =
      std::make_shared<std::unordered_map<trace::EventIndex, std::pair<double, double>>>();
  const std::vector<analysis::LauncherWork>& works = trace.Works();
  const std::vector<analysis::Launcher>& launchers = trace.attribution().launchers;
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

AlignedTraces::~AlignedTraces() = default;

std::vector<Table> AlignedTraces::Tables() const {
  std::vector<Table> tables;
  if (compatible_) {
    tables.push_back(compat::TraceLensDiffStats(diff_));
    return tables;
  }
  tables.push_back(analysis::DiffSummary(diff_));
  tables.push_back(Roles());
  tables.push_back(analysis::DiffStats(diff_, {}));
  return tables;
}

Table AlignedTraces::Roles() const {
  return analysis::DiffRoles(diff_, ShapesOf(*traces_[0]), ShapesOf(*traces_[1]));
}

Table AlignedTraces::StatsSummary(const Table& diff_stats) const {
  if (compatible_) return compat::TraceLensDiffStatsSummary(diff_stats);
  return analysis::DiffStatsSummary(
      diff_stats, {"lowest_common_ancestor_id", "gpu_op_uid", "cpu_op_uid", "busy_time"});
}

analysis::ExtraColumns AlignedTraces::Columns() const {
  return compatible_ ? compat::TraceLensLcaColumns(diff_) : analysis::LcaColumns(diff_);
}

Result<std::unique_ptr<const AlignedTraces>> AlignLoaded(const LoadedTrace& primary,
                                                         const LoadedTrace& comparison,
                                                         Compat compat, bool python_frames,
                                                         Job& job) {
  std::unique_ptr<AlignedTraces> made(new AlignedTraces);
  const LoadedTrace* traces[2] = {&primary, &comparison};
  std::copy_n(traces, 2, made->traces_);
  if (compat == Compat::kTraceLens) {
    made->compatible_ = true;
    made->diff_.rules = compat::TraceLensDiffRules();
    made->diff_.clock = analysis::Clock::kDoubleMicros;
    analysis::DiffNames names = compat::TraceLensDiffNames();
    for (const int side : {0, 1}) {
      const trace::EventStore& events = traces[side]->events();
      made->reference_trees_[side] = std::make_unique<const compat::TraceLensTree>(
          compat::BuildTraceLensTree(events, python_frames));
      made->diff_.sides[side] =
          compat::TraceLensDiffSide(events, *made->reference_trees_[side], names);
      if (!made->diff_.sides[side].tree.roots.empty()) continue;
      return Fail(ErrorCode::kBadValue,
                  std::string(side == 0 ? "the primary" : "the comparison") +
                      " trace has no host ops, which the reference aligns by",
                  "repeat without compat: the default compares what there is");
    }
  } else {
    made->diff_.rules.second_first = comparison.id() < primary.id();
    analysis::DiffNames names(&analysis::FoldedDiffName);
    for (const int side : {0, 1})
      made->diff_.sides[side] = SideOf(*traces[side], names);
  }
  JV_TRY(analysis::AlignTraces(&made->diff_, job));
  return made;
}

}  // namespace jarvis::session
