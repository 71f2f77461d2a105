// The files of an analysis: what stands under category_data/ and metadata/, the ranking and the
// kernels worth work. All are made from one Analysis.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/job.h"
#include "findings/one/analysis.h"
#include "io/output_folder.h"
#include "perf/platform.h"
#include "table/table.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

struct CategoryFilesOptions {
  std::vector<std::size_t> chosen;           // indices into Analysis::categories
  std::size_t rows_max = 50;                 // rows of tree data per category
  bool overwrite = false;                    // files too that are in the way and not ours
  const perf::Platform* platform = nullptr;  // null: none known
};

// Writes for each chosen category <key>_ops.csv, <key>_metrics.json, <key>_tree_data.json and its
// metadata; then the files about idle time, communication, copies and fusion, the model, the
// trace's quality, priority_data.json, kernel_candidates.json and, the last of the result,
// category_data/category_manifest.json, which names all others. `ops`: see findings::OpsTables.
Result<std::vector<FileLink>> WriteCategoryFiles(const session::LoadedTrace& trace,
                                                 const findings::Analysis& analysis,
                                                 const CategoryFilesOptions& options,
                                                 std::map<std::string, Table> ops,
                                                 io::OutputFolder& folder, Job& job);

}  // namespace jarvis::tools
