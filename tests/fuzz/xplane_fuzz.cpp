// Any bytes as an XPlane profile: read on one thread and on several, the result is the same, and
// all of it can be walked.
#include <cstdint>
#include <string_view>

#include "fuzz/imported.h"
#include "trace/import/xplane/xplane.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  jarvis::testing::ReadTwice(jarvis::trace::kXplane, {reinterpret_cast<const char*>(data), size});
  return 0;
}
