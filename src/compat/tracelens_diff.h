// The reference's comparison of two traces (its TraceDiff): its trees, with the top of each thread
// rewired, aligned by its rules, and what its tables make of that.
#pragma once

#include <span>

#include "analysis/align/diff_reading.h"
#include "analysis/align/tables.h"
#include "compat/tracelens_capture.h"
#include "compat/tracelens_tree.h"

namespace jarvis::compat {

// Roots by the first call of an op below them; each root's children are those of the last frame
// that has no sibling (P24). A trace without ops has no roots.
analysis::DiffTree MakeTraceLensDiffTree(const trace::EventStore& events, const TraceLensTree& tree,
                                         analysis::DiffNames& names);

// `tree` must outlive the result.
analysis::DiffSide TraceLensDiffSide(const trace::EventStore& events, const TraceLensTree& tree,
                                     analysis::DiffNames& names);

// How names are compared, and lists aligned.
analysis::DiffNames TraceLensDiffNames();
analysis::DiffRules TraceLensDiffRules();

// diff_stats; of identical traces the rows of one, without the column `source`.
Table TraceLensDiffStats(const analysis::TraceDiff& diff);
Table TraceLensDiffStatsSummary(const Table& diff_stats);

// A12: each row is held against the whole time of the LCAs that it has a part in. P14: what is
// called a speedup is trace 2's time by trace 1's. `diff` must outlive the result.
analysis::ExtraColumns TraceLensLcaColumns(const analysis::TraceDiff& diff);

// All of it as a reading, and one side as it is read, with its captures if there are any: the tree
// is part of the result.
analysis::DiffReading TraceLensDiffReading();
analysis::ReadDiffSide ReadTraceLensDiffSide(const trace::EventStore& events, bool python_frames,
                                             std::span<const TraceLensCapture> captures,
                                             analysis::DiffNames& names);

}  // namespace jarvis::compat
