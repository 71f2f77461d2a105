// The collectives of several sweeps, each operation against the baseline's.
#pragma once

#include <cstddef>
#include <vector>

#include "sweep/draw/page.h"
#include "sweep/judge/compared_sweeps.h"

namespace jarvis::sweep {

struct ComparedCollectives {
  std::vector<PageCollective> collectives;  // those that take most time
  std::size_t more = 0;                     // that are not among them
};
ComparedCollectives CompareCollectives(const ComparedSweeps& compared);

}  // namespace jarvis::sweep
