// The files of a sweep's analysis, named as the users' scripts name them.
#pragma once

#include <set>
#include <string>

#include "sweep/judge/reports.h"
#include "sweep/judge/stability.h"
#include "sweep/judge/timeline.h"
#include "sweep/judge/variance.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {

enum class SweepStep : std::uint8_t { kReport, kGemmVariance, kGpuTimeline, kComms, kPlots };
// By name ("gemm_variance"); the names in the order in which they are done.
std::optional<SweepStep> SweepStepOf(std::string_view name);

struct SweepFileOptions {
  std::set<SweepStep> steps;
  std::size_t top_k = 5;
  std::vector<sweep::Aggregate> aggregates = {sweep::Aggregate::kMean};
  bool workbooks = true;  // .xlsx
  bool tables = true;     // .csv
  bool png = false;       // plots as PNG beside the SVG
  bool comparisons = true;
  bool overwrite = false;
  std::vector<Table> more = {};  // tables that the caller made, as CSV files
  struct TextFile {
    std::string name;
    std::string what;
    std::string content;
  };
  std::vector<TextFile> texts = {};  // files that the caller made
};

// Writes what the steps make into `directory` (from FilePolicy::ResolveOutput), all or nothing by
// file. Files and notes are added to the answer. A warning more, in `facts`, is nothing here.
Status WriteSweepFiles(const session::Workspace& workspace, const sweep::SweepFacts& facts,
                       const std::string& directory, const SweepFileOptions& options, Job& job,
                       Answer* answer);

}  // namespace jarvis::tools
