// The files of tools_schema/, as the build put them into the program.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace jarvis::tools {

std::span<const EmbeddedFile> SchemaFiles();

}  // namespace jarvis::tools
