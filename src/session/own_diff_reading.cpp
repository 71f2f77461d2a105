#include "session/own_diff_reading.h"

#include "analysis/align/names.h"

namespace jarvis::session {
namespace {

analysis::DiffRules OwnDiffRules() {
  return {};
}

analysis::DiffNames OwnDiffNames() {
  return analysis::DiffNames(&analysis::FoldedDiffName);
}

Table OwnDiffStats(const analysis::TraceDiff& diff) {
  return analysis::DiffStats(diff, {});
}

Table OwnDiffStatsSummary(const Table& diff_stats) {
  return analysis::DiffStatsSummary(
      diff_stats, {"lowest_common_ancestor_id", "gpu_op_uid", "cpu_op_uid", "busy_time"});
}

}  // namespace

analysis::DiffReading OwnDiffReading() {
  return {.rules = &OwnDiffRules,
          .names = &OwnDiffNames,
          .stats = &OwnDiffStats,
          .stats_summary = &OwnDiffStatsSummary,
          .columns = &analysis::LcaColumns};
}

analysis::ReadDiffSide ReadOwnDiffSide(const LoadedTrace& trace, const DiffSideOptions& /*how*/,
                                       analysis::DiffNames& names) {
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
  return {std::move(side), nullptr};
}

}  // namespace jarvis::session
