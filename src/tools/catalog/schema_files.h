// The tools' definitions in tools_schema/, as the build put them into the program.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace jarvis::tools {

std::span<const EmbeddedFile> SchemaFiles();
// tools_schema/files/: of the files that an analysis writes, by the file's name without its ending;
// category_metrics, category_metadata and tree_data are those of every category.
std::span<const EmbeddedFile> FileSchemaFiles();

}  // namespace jarvis::tools
