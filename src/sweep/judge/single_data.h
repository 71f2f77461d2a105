// What the page about single runs shows, from their facts.
#pragma once

#include <span>
#include <vector>

#include "sweep/draw/single_page.h"
#include "sweep/judge/compare_runs.h"

namespace jarvis::sweep {

std::vector<SingleRun> SingleRunsOf(std::span<const NamedRun> runs);

}  // namespace jarvis::sweep
