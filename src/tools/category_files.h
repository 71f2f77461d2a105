// The files that category_filter writes: one set a category, and the manifest that names them.
#pragma once

#include <string>
#include <vector>

#include "base/job.h"
#include "engine/category_data.h"
#include "io/output_folder.h"
#include "tools/answer.h"

namespace jarvis::tools {

// Writes category_data/<key>_ops.csv, category_data/<key>_tree_data.json and
// metadata/<key>_metadata.json for each of `chosen` (indices into data.categories), then
// category_data/category_manifest.json, the last of the result. `rows_max`: rows of tree data a
// category. `overwrite`: files too that are in the way and not ours.
Result<std::vector<FileLink>> WriteCategoryFiles(const engine::LoadedTrace& trace,
                                                 const engine::CategoryData& data,
                                                 const std::vector<std::size_t>& chosen,
                                                 io::OutputFolder& folder, std::size_t rows_max,
                                                 bool overwrite, Job& job);

}  // namespace jarvis::tools
