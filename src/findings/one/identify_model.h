// Tells the model from its modules, files, shapes and types. See model_identity.h.
#pragma once

#include "findings/one/analysis.h"

namespace jarvis::findings {

ModelIdentity IdentifyModel(const session::LoadedTrace& trace,
                            const std::vector<CategoryAnalysis>& categories);

}  // namespace jarvis::findings
