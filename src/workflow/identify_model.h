// Tells the model from its modules, files, shapes and types. See model_identity.h.
#pragma once

#include "workflow/analysis.h"

namespace jarvis::workflow {

ModelIdentity IdentifyModel(const engine::LoadedTrace& trace,
                            const std::vector<CategoryAnalysis>& categories);

}  // namespace jarvis::workflow
