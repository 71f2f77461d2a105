// Findings about the host: each with its cause, where it is, how often, and what the wall time
// would be without it. Times of the programs are worked out by hand.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/analysis_support.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

// A finding about the host, which has its cause and what it saves.
const Finding& HostFinding(const Analyzed& one, std::string_view subject, HostCauseKind kind) {
  CAPTURE(subject);
  const Finding* finding = one.Find("cpu_idle", subject);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->host != nullptr);
  CHECK(finding->host->kind == kind);
  CHECK(finding->count == finding->host->count);
  CHECK_FALSE(finding->host->changes.empty());
  REQUIRE(finding->wall_a.has_value());
  CHECK(finding->wall_a->ms.low <= finding->wall_a->ms.mid);
  CHECK(finding->wall_a->ms.mid <= finding->wall_a->ms.high);
  CHECK(finding->wall_a->ms.mid <= one.analysis.wall.wall_ms);
  return *finding;
}

bool Advises(const Finding& finding, Advice advice) {
  return std::any_of(finding.path_a.begin(), finding.path_a.end(),
                     [&](const Remedy& remedy) { return remedy.advice == advice; });
}

// 40 kernels of 5 us, launched every 50 us, and nothing else to do.
TraceText SlowLaunches() {
  TraceText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 50.0 * i;
    text.Op("aten::relu", at, 40);
    text.Runtime("cudaLaunchKernel", at + 20, 3, i + 1).Kernel("k", at + 30, 5, i + 1);
  }
  return text;
}

// 40 times 100 us of GPU work, half of each 200 us, whose end the host waits for `waits` times.
TraceText Waiting(int waits) {
  TraceText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 200.0 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 100, i + 1);
    if (i >= waits) continue;
    text.Op("aten::item", at + 14, 102);
    text.Runtime("cudaStreamSynchronize", at + 15, 100, 1000 + i);
  }
  return text;
}

// Ten batches: 1 ms of work on the GPU, then 2 ms of the host alone, in the loader or not.
TraceText Batches(bool loader) {
  TraceText text;
  for (int i = 0; i < 10; ++i) {
    const double at = 3000.0 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 988, i + 1);
    if (loader) {
      text.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 1001,
                      1990);
    } else {
      text.Python("data.py(12): prepare", at + 1001, 1990);
    }
  }
  return text;
}

TEST_CASE("launching takes longer than what is launched") {
  const Analyzed one = Analyze(SlowLaunches());
  const Finding& finding = HostFinding(one, "launch_bound", HostCauseKind::kLaunchBound);
  CHECK(finding.count == 40);
  CHECK(finding.host->launch_us == doctest::Approx(50));
  CHECK(finding.host->kernel_us == doctest::Approx(5));
  CHECK(finding.host->idle_percent > limits::kIdleLaunchShare);
  CHECK(Advises(finding, Advice::kGpuGraphs));
  CHECK(Advises(finding, Advice::kCompile));
  // 2 ms less 40 kernels of 5 us is what no launches at all would save; a graph saves most of it.
  CHECK(finding.wall_a->ms.mid < 1.8);
  CHECK(finding.wall_a->ms.mid > 1.5);
  CHECK(finding.id == "f1");
  CHECK(finding.wall_a->after_others_ms == doctest::Approx(finding.wall_a->ms.mid));
}

TEST_CASE("what is compiled is not told to compile") {
  TraceText text = SlowLaunches();
  text.Op("Torch-Compiled Region: 0/0", 0, 2000);
  const Analyzed one = Analyze(text);
  const Finding& finding = HostFinding(one, "launch_bound", HostCauseKind::kLaunchBound);
  CHECK_FALSE(Advises(finding, Advice::kCompile));
}

TEST_CASE("the host waits for the GPU again and again") {
  const Analyzed one = Analyze(Waiting(40));
  const Finding& finding = HostFinding(one, "synchronisation", HostCauseKind::kWaits);
  CHECK(finding.count == 40);
  CHECK(finding.path_a.front().advice == Advice::kAvoidScalars);
  REQUIRE(finding.host->places.size() == 1);
  const HostPlace& place = finding.host->places.front();
  CHECK(place.name == "aten::item (cudaStreamSynchronize)");
  CHECK(place.waits_for == "k");
  CHECK(place.count == 40);
  CHECK(place.ms == doctest::Approx(4));
  // Without waits the host does its half of each 200 us beside the GPU's.
  CHECK(finding.wall_a->ms.mid == doctest::Approx(4).epsilon(0.1));
}

TEST_CASE("a few waits are how a result is read") {
  CHECK(Analyze(Waiting(7)).Find("cpu_idle", "synchronisation") == nullptr);
}

TEST_CASE("plain Python between the same work is one finding, with its code and period") {
  const Analyzed one = Analyze(Batches(false));
  const Finding& finding = HostFinding(one, "host_section", HostCauseKind::kSection);
  CHECK(finding.count == 10);  // the first, before any GPU work, is one of them
  CHECK(finding.time_ms == doctest::Approx(20.1).epsilon(0.02));
  CHECK(finding.path_a.front().advice == Advice::kOverlapHostWork);
  CHECK(finding.host->each_ms == doctest::Approx(2).epsilon(0.02));
  REQUIRE(finding.host->period_ms.has_value());
  CHECK(*finding.host->period_ms == doctest::Approx(3));
  CHECK(finding.host->before == "aten::mm");
  CHECK(finding.host->after == "aten::mm");
  CHECK_FALSE(finding.host->loading);
  REQUIRE_FALSE(finding.host->places.empty());
  CHECK(finding.host->places.front().name == "data.py(12): prepare");
  CHECK(finding.host->places.front().count == 10);
  CHECK(finding.wall_a->ms.mid == doctest::Approx(19).epsilon(0.06));
  CHECK(one.Find("cpu_idle", "data_loading") == nullptr);
}

TEST_CASE("the host waits for data") {
  const Analyzed one = Analyze(Batches(true));
  const Finding& finding = HostFinding(one, "data_loading", HostCauseKind::kSection);
  CHECK(finding.count == 10);  // the first, before any GPU work, is one of them
  CHECK(finding.host->loading);
  CHECK(finding.path_a.front().advice == Advice::kLoaderWorkers);
  CHECK(finding.wall_a->ms.mid == doctest::Approx(20).epsilon(0.05));
  CHECK(one.Find("cpu_idle", "host_section") == nullptr);
}

TEST_CASE("a host without a CPU is told once, and is nobody's section") {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 280; ++i) {
    const double length = i % 23 == 11 ? 8000 : 14;
    text.Op(fmt::format("aten::op{}", i % 7), at, length);
    text.Runtime("cudaLaunchKernel", at + length - 6, 5, i + 1);
    text.Kernel("k", at + length + 1, 20.5, i + 1);
    at += length + 10;
  }
  const Analyzed one = Analyze(text);
  const Finding& finding = HostFinding(one, "descheduled_host", HostCauseKind::kDescheduled);
  CHECK(finding.count == 12);
  CHECK(finding.path_a.front().advice == Advice::kGiveCores);
  CHECK(finding.wall_a->ms.mid > 90);
  CHECK(one.Find("cpu_idle", "host_section") == nullptr);
}

TEST_CASE("first calls are told with what was loaded, and are nobody's section") {
  TraceText text;
  for (int i = 0; i < 30; ++i) {
    const double at = i == 0 ? 0 : 60'000 + 1000.0 * i;
    const double launch = i == 0 ? 60'000 : 5;
    text.Op("aten::relu", at, launch + 10);
    text.Runtime("cudaLaunchKernel", at + 2, launch, i + 1);
    text.Kernel("relu_kernel", at + launch + 5, 950, i + 1);
  }
  const Analyzed one = Analyze(text);
  const Finding& finding = HostFinding(one, "first_calls", HostCauseKind::kFirstCalls);
  CHECK(finding.count == 1);
  CHECK(finding.path_a.front().advice == Advice::kWarmUpFirst);
  REQUIRE(finding.host->places.size() == 1);
  CHECK(finding.host->places.front().name == "cudaLaunchKernel");
  CHECK(finding.host->places.front().code == "aten::relu");
  CHECK(finding.host->places.front().ms == doctest::Approx(60).epsilon(0.01));
  CHECK(finding.wall_a->ms.mid == doctest::Approx(60).epsilon(0.05));
  CHECK(one.Find("cpu_idle", "host_section") == nullptr);
}

TEST_CASE("host time that hardly shows is no finding") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "k", 12, 50'000, 1);
  text.OpWithKernel("aten::mm", 50'400, 10, "k", 50'412, 50'000, 2);  // 0.4 ms of 100
  const Analyzed one = Analyze(text);
  REQUIRE(one.analysis.wall.known);
  for (const Finding& finding : one.analysis.findings)
    CHECK(finding.host == nullptr);
}

TEST_CASE("without launches nothing is said of the host, whatever it did") {
  TraceText text;
  text.Python("a.py(1): work", 0, 2000);
  text.Kernel("k", 0, 500, 1).Kernel("k", 1500, 500, 2);
  const Analyzed one = Analyze(text);
  CHECK_FALSE(one.analysis.wall.known);
  CHECK_FALSE(one.analysis.wall.why_not.empty());
  for (const Finding& finding : one.analysis.findings)
    CHECK(finding.host == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
