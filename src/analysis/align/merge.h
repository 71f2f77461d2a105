// Two trees merged into one: which node of the one is which of the other.
#pragma once

#include <vector>

#include "analysis/align/sequence.h"
#include "analysis/align/tree.h"

namespace jarvis::analysis {

struct DiffRules {
  // Lists of equal length without calls of the runtime are paired by position, whatever the names.
  // The default looks at the names first, and pairs by position only what no name tells.
  bool pair_equal_lists_by_position = false;
  // A node is where two traces part only if both have GPU work below it; what one of them has
  // below other nodes is then shown child by child. By default one side is enough.
  bool both_sides_have_gpu_work = false;
  // Ties go by the order of the traces. Whoever wants A against B to mirror B against A lets the
  // same one come first both times.
  bool second_first = false;
  AlignLimits limits;
};

// A node of both trees, or of one (the other is kNoDiffNode). After wrappers were passed over, `a`
// and `b` are the nodes that were reached.
struct MergedNode {
  DiffIndex a;
  DiffIndex b;
  std::uint32_t parent;  // kNoMerged: a root
  std::uint32_t end;     // one past the last node below: nodes are numbered depth first
  bool combined() const { return a != kNoDiffNode && b != kNoDiffNode; }
};
inline constexpr std::uint32_t kNoMerged = 0xFFFFFFFFu;

struct MergedTree {
  std::vector<MergedNode> nodes;
  bool approximate = false;  // some lists were too long to be aligned exactly
};

// The i-th roots belong together; surplus ones are of one tree only. Not recursive; a node of
// either tree is merged once, so that memory is bounded by both trees.
Result<MergedTree> MergeTrees(const DiffTree& a, const DiffTree& b, const DiffRules& rules,
                              Job& job);

}  // namespace jarvis::analysis
