// What the tools about sweeps share: arguments in, warnings and configurations out.
#pragma once

#include <string>
#include <vector>

#include "sweep/judge/recommend.h"
#include "sweep/measure/facts.h"
#include "tools/shared/arguments.h"
#include "tools/shared/part_warnings.h"

namespace jarvis::tools {

// The sweep that the argument `sweep_dir` names, with every trace read. The arguments `configs`,
// `ranks` and `reference_compat` count where the tool has them. `tables`: see MeasureOptions.
Result<sweep::SweepFacts> MeasureSweepOf(const session::Workspace& workspace, const Json& arguments,
                                         Job& job, bool tables = true);

// Where files of the sweep go: output_dir, else tracelens_analysis in the sweep where it may be
// written, else a directory named after the sweep.
Result<std::string> SweepOutput(const session::Workspace& workspace, const Json& arguments,
                                const sweep::Sweep& sweep);

// Columns and cells of one configuration in an answer.
std::vector<std::string> MetricColumns();
std::vector<Cell> MetricCells(const sweep::SweepFacts& facts, const sweep::ConfigMetrics& metrics);

// "rank 3 arrives last in 76.1 % of the collectives"; empty: no collective tells.
std::string StragglerText(const sweep::SweepFacts& facts);

}  // namespace jarvis::tools
