// The JSON that torch.profiler exports, and other JSON in the format of Chrome's traces.
#pragma once

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

extern const Importer kKinetoJson;

}  // namespace jarvis::trace
