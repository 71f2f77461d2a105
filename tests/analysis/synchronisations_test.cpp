#include "analysis/host/synchronisations.h"

#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

std::vector<WaitGroup> WaitsOf(const TraceText& text) {
  const Loaded loaded = Load(text);
  const HostGpuWork gpu(loaded.events());
  const Launches launches(loaded.events(), loaded.tree, gpu);
  HostNames names(loaded.events());
  const Waits waits = FindWaits(loaded.events(), loaded.tree, gpu, launches, &names);
  return GroupWaits(loaded.events(), loaded.tree, gpu, waits, &names);
}

TEST_CASE("a copy to the host waits for what is queued before it") {
  // softmax 20 --------- 900, then gemm 900-960, the copy 960-965; the call 40-970.
  TraceText t;
  t.Op("aten::softmax", 0, 20).Runtime("cudaLaunchKernel", 5, 5, 1).Kernel("softmax", 20, 880, 1);
  t.Op("aten::mm", 21, 9).Runtime("cudaLaunchKernel", 25, 4, 2).Kernel("gemm", 900, 60, 2);
  t.Python("pipeline.py(7): postprocess", 30, 950)
      .Python("<built-in method to of Tensor object at 0x1>", 31, 945)
      .Op("aten::to", 32, 943)
      .Op("aten::_to_copy", 33, 941)
      .Op("aten::copy_", 34, 939);
  t.Runtime("cudaMemcpyAsync", 40, 930, 3).Memcpy("Memcpy DtoH (Device -> Pageable)", 960, 5, 3);
  t.Runtime("cudaStreamSynchronize", 971, 1, 4);
  const auto groups = WaitsOf(t);
  REQUIRE(groups.size() == 2);
  const WaitGroup& copy = groups[0];
  CHECK(copy.call == "cudaMemcpyAsync");
  CHECK(copy.op == "aten::to");
  CHECK(copy.code == "pipeline.py(7): postprocess");
  CHECK(copy.count == 1);
  CHECK(copy.total_ns == 930'000);
  CHECK(copy.cause == WaitCause::kGpuWork);
  CHECK(copy.waits_for == "softmax");
  CHECK(copy.waits_for_percent == doctest::Approx(100.0 * 860 / 925));
  CHECK(copy.copy_ns == 5'000);
  CHECK(groups[1].call == "cudaStreamSynchronize");
  CHECK(groups[1].cause == WaitCause::kNothing);
  CHECK(groups[1].found_done == 1);
  CHECK(groups[1].waits_for.empty());
}

TEST_CASE("a loop of scalar reads is one row") {
  TraceText t;
  for (int i = 0; i < 5; ++i) {
    const double at = 100 * i;
    t.Runtime("cudaLaunchKernel", at, 5, 10 * i + 1).Kernel("k", at + 10, 30, 10 * i + 1);
    t.Python("loop.py(3): main", at + 6, 60).Op("aten::item", at + 7, 55);
    t.Op("aten::_local_scalar_dense", at + 8, 53);
    t.Runtime("cudaMemcpyAsync", at + 9, 50, 10 * i + 2)
        .Memcpy("Memcpy DtoH (Device -> Pageable)", at + 40, 2, 10 * i + 2);
  }
  const auto groups = WaitsOf(t);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].op == "aten::item");
  CHECK(groups[0].code == "loop.py(3): main");
  CHECK(groups[0].count == 5);
  CHECK(groups[0].median_ns == 50'000);
  CHECK(groups[0].cause == WaitCause::kGpuWork);
  CHECK(groups[0].waits_for == "k");
}

TEST_CASE("its own copy; work that is not recorded; work launched before the recording") {
  TraceText t;
  t.Runtime("cudaLaunchKernel", 0, 5, 1).Kernel("k", 10, 5, 1);
  t.Runtime("cudaMemcpyAsync", 100, 300, 2).Memcpy("Memcpy HtoD (Pageable -> Device)", 110, 295, 2);
  t.Runtime("hipMemcpyWithStream", 1000, 5000, 3).Memcpy("Memcpy DtoD", 5990, 5, 3);
  t.Runtime("cudaDeviceSynchronize", 7000, 400, 4).Kernel("earlier", 7010, 380, 99);
  const auto groups = WaitsOf(t);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].call == "hipMemcpyWithStream");
  CHECK(groups[0].cause == WaitCause::kUnrecorded);
  CHECK(groups[0].unrecorded_ns == 4'995'000);
  CHECK(groups[1].call == "cudaDeviceSynchronize");
  CHECK(groups[1].cause == WaitCause::kForeign);
  CHECK(groups[1].foreign_ns == 380'000);
  CHECK(groups[1].waits_for == "earlier");
  CHECK(groups[2].cause == WaitCause::kOwnCopy);
  CHECK(groups[2].copy_ns == 290'000);
}

TEST_CASE("what does not wait") {
  TraceText t;
  t.Runtime("cudaLaunchKernel", 0, 5, 1).Kernel("k", 10, 500, 1);
  // Pinned: the call is over before the copy.
  t.Runtime("cudaMemcpyAsync", 20, 5, 2).Memcpy("Memcpy HtoD (Pinned -> Device)", 510, 20, 2);
  t.Runtime("cudaMemcpyAsync", 540, 10, 3).Memcpy("Memcpy DtoD (Device -> Device)", 545, 2, 3);
  t.Runtime("cudaMemsetAsync", 560, 10, 4).Memset("Memset (Device)", 565, 2, 4);
  t.Runtime("cudaFree", 600, 900, 5);  // nothing runs: its own work
  t.Runtime("cudaStreamWaitEvent", 1600, 2, 6).Runtime("cudaEventRecord", 1603, 2, 7);
  CHECK(WaitsOf(t).empty());
  t.Kernel("late", 2000, 900, 1).Runtime("cudaFree", 2000, 1000, 8);
  const auto groups = WaitsOf(t);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].call == "cudaFree");
}

TEST_CASE("a driver call inside a runtime call is no second wait") {
  TraceText t;
  t.Runtime("cudaStreamSynchronize", 0, 100, 1).Driver("cuStreamSynchronize", 10, 80, 1);
  const auto groups = WaitsOf(t);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].call == "cudaStreamSynchronize");
}

TEST_CASE("a launch into a full queue waits") {
  TraceText t;
  constexpr int kCalls = 1000;
  for (int i = 0; i < kCalls; ++i)
    t.Runtime("cudaLaunchKernel", i, 0.5, i + 1).Kernel("k", 2000 + 10 * i, 10, i + 1);
  t.Runtime("cudaLaunchKernel", 2000, 2800, kCalls + 1).Kernel("k", 12000, 10, kCalls + 1);
  const auto groups = WaitsOf(t);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].cause == WaitCause::kFullQueue);
  CHECK(groups[0].total_ns == 2'800'000);
}

TEST_CASE("no GPU work, no calls") {
  CHECK(WaitsOf(TraceText().Op("aten::mm", 0, 5)).empty());
  CHECK(WaitsOf(TraceText().Kernel("k", 0, 5, 1)).empty());
}

}  // namespace
}  // namespace jarvis::analysis
