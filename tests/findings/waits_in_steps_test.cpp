// Waits in each step: whose late launches are, and what is read that need not be.
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

// Four steps: a value is read at the begin of each, then twenty ops launch kernels of 5 us and
// twenty of `later_us`, one every 20 us.
Analyzed ReadInEachStep(double later_us) {
  TraceText text;
  double at = 0, gpu = 0;
  int id = 0;
  for (int step = 0; step < 4; ++step) {
    const double begin = at;
    const double read = std::max(gpu, at + 12) + 3;
    text.Op("aten::item", at, read + 12 - at).Runtime("cudaMemcpyAsync", at + 3, 5, ++id);
    text.Memcpy("Memcpy DtoH (Device -> Pageable)", read - 2, 2, id);
    text.Runtime("cudaStreamSynchronize", at + 9, read + 8 - at - 9, ++id);
    at = read + 14;
    for (int op = 0; op < 40; ++op, at += 20) {
      gpu = std::max(gpu, at + 10);
      const double us = op < 20 ? 5 : later_us;
      text.OpWithKernel("aten::mul", at, 18, "k", gpu, us, ++id);
      gpu += us + 1;
    }
    text.Annotation(fmt::format("ProfilerStep#{}", step), begin, at - begin);
  }
  text.Runtime("cudaDeviceSynchronize", at, gpu + 8 - at, ++id);
  return Analyze(text);
}

TEST_CASE("a value read in each step costs the lead where the host's own work is the shorter") {
  const Analyzed quick = ReadInEachStep(100);
  const Finding& waits = WaitsOf(quick);
  // Of three steps 20 times 14 us in front of late launches.
  CHECK(waits.host->idle_ms == doctest::Approx(3 * 0.28).epsilon(0.25));
  // Without it the launches of a slower host are as late.
  const Analyzed slow = ReadInEachStep(5);
  const Finding* late = slow.Find("cpu_idle", "synchronisation");
  CHECK((late == nullptr || late->host->idle_ms < 0.3));
  CHECK(slow.Find("cpu_idle", "launch_bound") != nullptr);
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
