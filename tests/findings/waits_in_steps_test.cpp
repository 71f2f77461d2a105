// Waits in each step for what need not be read.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

const Finding& WaitsOf(const Analyzed& one) {
  const Finding* finding = one.Find("cpu_idle", "synchronisation");
  REQUIRE(finding != nullptr);
  REQUIRE(finding->host != nullptr);
  CHECK(finding->host->kind == HostCauseKind::kWaits);
  return *finding;
}

TEST_CASE("sizes that an exchange needs stay on the device; other values are read back once") {
  const auto advice = [](bool launches_first) {
    TraceText text;
    for (int i = 0; i < 40; ++i) {
      const double at = 400.0 * i;
      text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 80, 5 * i + 1);
      text.Op("aten::to", at + 12, 100).Op("aten::copy_", at + 13, 95);
      text.Runtime("cudaMemcpyAsync", at + 14, 5, 5 * i + 2)
          .Memcpy("Memcpy DtoH (Device -> Pageable)", at + 93, 3, 5 * i + 2)
          .Runtime("cudaStreamSynchronize", at + 20, 80, 5 * i + 3);
      if (launches_first) text.OpWithKernel("aten::add", at + 113, 8, "k2", at + 125, 5, 5 * i + 4);
      text.Op("c10d::alltoall_base_", at + 122, 20)
          .Runtime("cudaLaunchKernel", at + 124, 6, 5 * i + 5)
          .Kernel("ncclDevKernel_SendRecv", at + 135, 30, 5 * i + 5);
    }
    const Analyzed one = Analyze(text);
    return WaitsOf(one).path_a.front().advice;
  };
  CHECK(advice(false) == Advice::kSizesOnDevice);
  CHECK(advice(true) == Advice::kReadBackOnce);
}

}  // namespace
}  // namespace jarvis::findings
