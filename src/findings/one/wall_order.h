// The order in which findings are to be done, each with what it saves beyond those before it;
// internal to the layer.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/simulation/simulation.h"
#include "findings/one/wall_plan.h"

namespace jarvis::findings {

struct Analysis;

struct Placed {
  std::size_t at = 0;   // of the analysis' findings
  double after_ms = 0;  // beyond those before it
  bool host = false;    // it spares the host work
  // The place of the finding about the host that most of it shows behind; absent: it shows before
  // any.
  std::optional<std::size_t> behind;
};

struct WallOrder {
  std::vector<Placed> placed;
  analysis::DoneChanges done;  // all of them
};

// `ways`: a finding's better way out, at its place; absent: it has none. Each time what saves the
// most beyond those before it, the longer of equals. REQUIRES: the wall time is known, findings
// with a way have a saving.
WallOrder OrderFindings(const Analysis& analysis, const analysis::Simulation& simulation,
                        const std::vector<std::optional<WayOut>>& ways);

}  // namespace jarvis::findings
