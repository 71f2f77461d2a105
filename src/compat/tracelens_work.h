// Which calls the reference's tables about work are made of: its walk over its own tree, synthetic
// rows for what the walk misses, and every event of a family's names, nested or not.
#pragma once

#include <string>
#include <vector>

#include "analysis/attribution/work_calls.h"
#include "analysis/tables/work_tables.h"
#include "compat/tracelens_tree.h"

namespace jarvis::compat {

struct TraceLensWorkOptions {
  bool python_frames = false;  // the tree has Python frames
  bool inference = false;      // the report about inference
};

struct TraceLensWork {
  std::vector<analysis::WorkCall> unified;
  struct Family {
    std::string name;  // of the table
    std::vector<analysis::WorkCall> calls;
  };
  std::vector<Family> families;  // in the report's order
};

TraceLensWork CollectTraceLensWork(const trace::EventStore& events, const TraceLensTree& tree,
                                   const analysis::Attribution& attribution,
                                   analysis::OpWorks& works, const TraceLensWorkOptions& options);

}  // namespace jarvis::compat
