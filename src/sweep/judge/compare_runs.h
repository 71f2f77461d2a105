// Runs side by side, each one directory with one trace per rank: any number against the first.
//
// One sign everywhere: change_pct = (run - baseline) / baseline * 100, speedup = baseline / run for
// times. Which direction is better is a matter of the metric, and the verdict says it: better,
// worse or similar (within the threshold), empty where there is nothing to compare.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sweep/measure/facts.h"
#include "table/table.h"

namespace jarvis::sweep {

// A run that was measured: the first configuration of `facts`.
struct NamedRun {
  std::string label;
  const SweepFacts* facts = nullptr;
};

// Labels from directories, made different where two are alike: "a", "a_2".
std::vector<std::string> DifferentLabels(std::vector<std::string> labels);

// runs_timeline: one row per run and type of time: mean and slowest rank. runs_by_rank: one
// row per run, rank and type. runs_collectives: one row per run and operation. The first run is the
// baseline.
std::vector<Table> CompareRuns(std::span<const NamedRun> runs, double threshold_pct);

// The same runs as the sheets that the reference makes of two runs, or of more than two.
std::vector<Table> ReferenceSheets(std::span<const NamedRun> runs);

}  // namespace jarvis::sweep
