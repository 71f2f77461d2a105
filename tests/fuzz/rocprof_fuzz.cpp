// rocprofv3's files and names of kernels. The first byte says what the rest is: 'j' a results.json,
// 'n' a kernel's name, else a CSV file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "perf/gemm_decode.h"
#include "rocprof/read/read_results.h"
#include "support/memory_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  jarvis::Job job;
  if (data[0] == 'j') {
    static_cast<void>(jarvis::rocprof::ReadResults(text, 50, job));
  } else if (data[0] == 'n') {
    const auto kernel = jarvis::perf::DecodeGemmKernel(text);
    if (!kernel) return 0;
    static_cast<void>(
        jarvis::perf::LaunchOf(*kernel, jarvis::perf::GemmSizes{1000, 77, 1'000'000'000, 3}, 304));
  } else {
    jarvis::testing::MemorySource source(text, 7);
    static_cast<void>(jarvis::rocprof::ReadCsvSource(source, "counter_collection.csv", 50, job));
  }
  return 0;
}
