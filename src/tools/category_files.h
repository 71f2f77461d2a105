// The files that category_filter writes: one set a category, and the manifest that names them.
#pragma once

#include <string>
#include <vector>

#include "base/job.h"
#include "engine/category_data.h"
#include "tools/answer.h"

namespace jarvis::tools {

// Writes category_data/<key>_ops.csv, category_data/<key>_tree_data.json and
// metadata/<key>_metadata.json for each of `chosen` (indices into data.categories), then
// category_data/category_manifest.json. `rows_max`: rows of tree data a category.
Result<std::vector<FileLink>> WriteCategoryFiles(const engine::LoadedTrace& trace,
                                                 const engine::CategoryData& data,
                                                 const std::vector<std::size_t>& chosen,
                                                 const std::string& directory, std::size_t rows_max,
                                                 Job& job);

}  // namespace jarvis::tools
