// Recommendations whose action is one and the same: a setting, a format or a compiler that is
// turned on once ends all of their causes, so they are one row of what to do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "documents/prose.h"
#include "findings/one/analysis.h"

namespace jarvis::documents {

// What an action tells to do, without its reasons: its first sentence as far as a cell is wide.
std::string FirstClause(const std::string& action);

using ActionGroup = std::vector<const findings::Finding*>;  // by rank, never empty

// The first `count` findings by their actions (levers::Action), in the order of each group's first.
std::vector<ActionGroup> ActionGroups(const findings::Analysis& analysis, std::size_t count);

// What all of a group save, of all units: before anything else is done, and once those ranked
// before each are. The first counts alone, each further one once the group's are done before it.
// REQUIRES: all have a saving that adds to others.
findings::Range AloneOf(const ActionGroup& group);
findings::Range AfterOf(const ActionGroup& group);

}  // namespace jarvis::documents
