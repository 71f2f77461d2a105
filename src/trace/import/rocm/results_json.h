// results.json of rocprofv3, of one process or several.
#pragma once

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

extern const Importer kRocprofv3Json;

}  // namespace jarvis::trace
