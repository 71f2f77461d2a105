// The events of a trace as JSON of torch.profiler's format, for formats that are none themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

// Its events, names of processes and threads, and an arrow for each launch. `file_size`: of the
// file that it was read from.
std::unique_ptr<TraceElements> ElementsOfStore(ImportedTrace read, std::uint64_t file_size);

// As Importer::elements, of a format whose Importer::read is `Read`.
template <auto Read>
Result<std::unique_ptr<TraceElements>> ElementsByReading(const TraceInput& input,
                                                         std::uint64_t bytes_max, Job& job) {
  JV_ASSIGN(ImportedTrace read, Read(input, {.bytes_max = bytes_max}, job));
  return ElementsOfStore(std::move(read), input.file.size);
}

}  // namespace jarvis::trace
