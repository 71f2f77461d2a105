// Traces of Perfetto in their own form (.pftrace, .perfetto-trace): as rocprofv3 writes them, and
// others of slices on tracks. Messages: protos/perfetto/trace of Perfetto.
#pragma once

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

extern const Importer kPerfetto;

}  // namespace jarvis::trace
