// Recordings that are no JSON of torch.profiler, through their importers and the tree. The first
// byte says what the rest is handed to: 'd' the reader of databases, 'j' of results.json, 'c' of
// CSV; else whoever takes it.
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/require.h"
#include "trace/import/database/sqlite_trace.h"
#include "trace/import/rocm/csv_set.h"
#include "trace/import/rocm/results_json.h"
#include "trace/import/trace_file.h"
#include "tree/build.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

// A file that only has a descriptor.
Result<io::InputFile> FileOf(const std::uint8_t* data, std::size_t size) {
  io::InputFile file;
  file.fd = FileDescriptor(::memfd_create("input", MFD_CLOEXEC));
  if (file.fd.get() < 0 || ::write(file.fd.get(), data, size) != static_cast<ssize_t>(size))
    return Fail(ErrorCode::kIo, "no file in memory");
  file.given = "input";
  file.path = "/nowhere/1_kernel_trace.csv";
  file.size = size;
  return file;
}

Result<trace::ImportedTrace> Read(char kind, io::InputFile file, int threads, Job& job) {
  const trace::ReadOptions options{.threads = threads};
  const trace::Importer* importer = kind == 'd'   ? &trace::kSqliteTrace
                                    : kind == 'j' ? &trace::kRocprofv3Json
                                    : kind == 'c' ? &trace::kRocprofv3Csv
                                                  : nullptr;
  if (importer != nullptr) return importer->read({std::move(file), {}, {}}, options, job);
  JV_ASSIGN(const trace::TraceFile opened, trace::TraceFile::Open(std::move(file), job));
  return opened.Read(options, job);
}

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using jarvis::testing::Require;
  if (size == 0) return 0;
  jarvis::Job job;
  const auto read = [&](int threads) {
    auto file = jarvis::FileOf(data + 1, size - 1);
    Require(file.has_value());
    return jarvis::Read(static_cast<char>(data[0]), std::move(*file), threads, job);
  };
  const auto one = read(1);
  const auto two = read(2);
  Require(one.has_value() == two.has_value());
  if (!one) return 0;
  Require(one->trace.events.size() > 0);
  Require(one->trace.events.size() == two->trace.events.size());
  Require(one->content_hash == two->content_hash);
  Require(jarvis::tree::BuildTree(one->trace.events, 1, job).has_value());
  return 0;
}
