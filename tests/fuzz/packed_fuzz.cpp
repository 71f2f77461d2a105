// Any bytes as a file that may be packed: what is in it, and each of its files as a trace.
#include <cstdint>
#include <string>

#include "fuzz/loaded_text.h"
#include "trace/import/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

using testing::Require;

void ReadWhole(io::InputFile file) {
  Job job;
  const auto opened = trace::TraceFile::Open(std::move(file), job);
  if (!opened) {
    Require(!opened.error().message.empty());
    return;
  }
  const auto read = opened->Read({.threads = 1}, job);
  Require(read || !read.error().message.empty());
  const auto again = opened->Read({.threads = 1}, job);
  Require(read.has_value() == again.has_value());
  if (!read) return;
  Require(read->content_hash == again->content_hash);
  Require(read->trace.events.elements == again->trace.events.elements);
  Require(read->trace.damage == again->trace.damage);
}

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  jarvis::ReadWhole(jarvis::testing::FileOf(text));
  const jarvis::Job job;
  const auto inside = jarvis::trace::TracesInArchive(jarvis::testing::FileOf(text), job);
  if (!inside) return 0;
  for (const std::string& name : inside->names) {
    jarvis::io::InputFile file = jarvis::testing::FileOf(text);
    file.member = name;
    jarvis::ReadWhole(std::move(file));
  }
  return 0;
}
