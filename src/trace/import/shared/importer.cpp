#include "trace/import/shared/importer.h"

#include <utility>

namespace jarvis::trace {

Result<std::unique_ptr<io::ByteSource>> TraceInput::Bytes(const Job& job) const {
  JV_ASSIGN(io::InputFile again, io::AnotherOf(file));
  return io::OpenBytes(std::move(again), layers, {.member = member, .job = &job});
}

}  // namespace jarvis::trace
