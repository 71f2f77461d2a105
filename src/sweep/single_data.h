// What the page about single runs shows, from their facts.
#pragma once

#include <span>
#include <vector>

#include "sweep/runs_compare.h"
#include "sweep/single_page.h"

namespace jarvis::sweep {

std::vector<SingleRun> SingleRunsOf(std::span<const NamedRun> runs);

}  // namespace jarvis::sweep
