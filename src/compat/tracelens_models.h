// The performance models as the reference analyser has them: our rows with its differences over
// them (models/*.json in this folder).
#pragma once

#include <span>
#include <string_view>

#include "base/embedded_file.h"
#include "perf/model_rows.h"

namespace jarvis::compat {

std::span<const EmbeddedFile> OverlayFiles();

// False for the built-in files that the reference has nothing like: beyond_*.
bool InTheReference(std::string_view file);

// Read once; thread-safe.
const perf::ModelRows& TraceLensModels();

}  // namespace jarvis::compat
