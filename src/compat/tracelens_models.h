// The performance models as the reference analyser has them: our rows with its differences over
// them (tracelens_models.json).
#pragma once

#include <span>
#include <string_view>

#include "perf/model_rows.h"

namespace jarvis::compat {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};
std::span<const EmbeddedFile> OverlayFiles();

// Built-in files that the reference has nothing like.
std::span<const std::string_view> FilesBeyondTheReference();

// Read once; thread-safe.
const perf::ModelRows& TraceLensModels();

}  // namespace jarvis::compat
