// How the reference analyser (TraceLens, a Python program) reads a trace, quirks included. All of
// the compatible mode's behaviour is in this folder; docs/differences.md lists each quirk and what
// the default does instead.
#pragma once

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/overlap.h"
#include "analysis/attribution/table_rules.h"
#include "analysis/tables/ops_tables.h"
#include "compat/tracelens_tree.h"
#include "table/table.h"

namespace jarvis::compat {

struct TraceLensOptions {
  bool include_unlinked_kernels = false;    // in the timeline
  bool python_frames = false;               // nest Python frames too
  bool pseudo_ops = false;                  // see analysis/attribution/pseudo_ops.h
  const perf::ModelRows* models = nullptr;  // null: TraceLensModels()
};

// Arithmetic in doubles of microseconds, deviating kernel lists and null keys dropped.
analysis::TableRules TraceLensRules();

// Nesting by start alone, events that stick out discarded; launches linked through ac2g arrows, one
// GPU event each; kernels below a nested driver call belong to that call; collectives left out.
// `recompute`: filled by event, as tree::MarkRecompute does, if it is not null; needs
// python_frames.
analysis::Attribution AttributeLikeTraceLens(const trace::EventStore& events,
                                             const TraceLensOptions& options,
                                             std::vector<char>* recompute = nullptr);
// The same on a tree that was built before, with or without Python frames.
analysis::Attribution AttributeLikeTraceLens(const trace::EventStore& events,
                                             const TraceLensTree& tree,
                                             const TraceLensOptions& options,
                                             std::vector<char>* recompute = nullptr);

// The pseudo-ops of the reference's tree; none at all for some paged-attention traces.
analysis::PseudoOps FindPseudoOpsLikeTraceLens(const trace::EventStore& events,
                                               const TraceLensTree& tree);

// Which GPU events overlap: of all that the timeline counts, whatever op they belong to; partners
// in the order of a Python set of their uids.
analysis::OverlapOptions TraceLensOverlapOptions();

// The reference writes a short_kernels_summary without rows in one of two odd forms.
void ShapeEmptyShortKernels(const analysis::TableInput& input, double threshold_us, Table* table);

}  // namespace jarvis::compat
