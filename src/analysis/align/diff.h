// Where two traces part: their GPU work in groups, each below the lowest call that both have (the
// lowest common ancestor, LCA).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/align/merge.h"
#include "analysis/attribution/clock.h"

namespace jarvis::analysis {

// GPU work of both traces that can only be compared as a whole: what the calls below one common
// ancestor did that are not the same calls.
struct DiffGroup {
  std::uint32_t lca = kNoMerged;   // of MergedTree::nodes; kNoMerged: nothing in common
  bool unlinked = false;           // work without a launch call, of both traces
  std::vector<EventIndex> gpu[2];  // of the primary, of the comparison trace
  double busy_us[2] = {0, 0};      // union of their intervals
};

// What the tables ask of one of the traces.
struct DiffSide {
  const EventStore* events = nullptr;
  DiffTree tree;
  std::function<EventIndex(EventIndex)> op_of;   // of a GPU event: the nearest cpu_op, or kNoEvent
  std::function<EventIndex(EventIndex)> caller;  // for modules
  std::vector<EventIndex> unlinked;              // GPU work outside of the tree
};

struct TraceDiff {
  DiffSide sides[2];
  DiffRules rules;
  Clock clock = Clock::kNanoseconds;
  MergedTree merged;
  // In the order of the merged tree; unlinked work of both is a last one of its own.
  std::vector<DiffGroup> groups;

  // The name as recorded; ours for nodes without an event.
  std::string NameOf(int side, DiffIndex n) const;
  // Both names, "a | b" if they differ; without places in the code. "(unlinked)", or "(no common
  // call)", for what has none.
  std::string LcaName(const DiffGroup& group) const;
  // The same for people: of work that both traces have, the op that did it.
  std::string PlaceName(const DiffGroup& group) const;
  // The node that it names; REQUIRES: the group has an LCA.
  std::uint32_t PlaceOf(const DiffGroup& group) const;

 private:
  std::string NameOfMerged(std::uint32_t node) const;
};

// Aligns the sides and groups their GPU work. Every GPU event of both trees is in exactly one group
// (in compatible mode as often as calls claim it).
Status AlignTraces(TraceDiff* diff, Job& job);

// The modules around an event, outermost first, without instance numbers.
std::vector<std::string> DiffModules(const DiffSide& side, EventIndex e);

}  // namespace jarvis::analysis
