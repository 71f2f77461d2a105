// The events of a trace as JSON of torch.profiler's format, for formats that are none themselves.
#pragma once

#include <memory>

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

// Its events, names of processes and threads, and an arrow for each launch. `file_size`: of the
// file that it was read from.
std::unique_ptr<TraceElements> ElementsOfStore(ImportedTrace read, std::uint64_t file_size);

}  // namespace jarvis::trace
