// Any bytes as a trace of Perfetto: read twice, the result is the same, and all of it can be
// walked.
#include <cstdint>
#include <string_view>

#include "fuzz/imported.h"
#include "trace/import/perfetto/perfetto.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  jarvis::testing::ReadTwice(jarvis::trace::kPerfetto, {reinterpret_cast<const char*>(data), size});
  return 0;
}
