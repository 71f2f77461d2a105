// What waits cost beyond the idle time right behind them, and how far that is known.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/wall_classes.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

constexpr int kChecked = 12;

// Layers of a check that waits for all before, forty launches of next to nothing, and five kernels
// of `long_us`. With `allocates` the host takes memory while the GPU is at these.
Analyzed Layers(double long_us, bool allocates) {
  constexpr int kShort = 40, kLong = 5;
  constexpr double kEach = 30, kShortUs = 5;
  TraceText text;
  double at = 10, free = 0;
  int id = 0;
  const auto launch = [&](const char* op, double us) {
    const double start = std::max(at + 12, free + 1);
    text.OpWithKernel(op, at, 10, "k", start, us, ++id);
    free = start + us;
  };
  for (int layer = 0; layer < kChecked; ++layer) {
    launch("aten::isnan", kShortUs);
    text.Op("aten::is_nonzero", at + 12, std::max(30.0, free + 10 - at))
        .Op("aten::item", at + 13, 20);
    const double done = std::max(at + 20, free + 6);
    text.Runtime("cudaStreamSynchronize", at + 14, done - at - 14, ++id);
    at = std::max(at + 50, done + 10);
    for (int i = 0; i < kShort + kLong; ++i, at += kEach)
      launch("aten::mul", i < kShort ? kShortUs : long_us);
    for (int i = 0; allocates && i < 3; ++i, at += 110)
      text.Runtime("cudaMalloc", at, 100, ++id);
  }
  text.Annotation("ProfilerStep#1", 0, std::max(at, free) + 10);
  return Analyze(text);
}

double ChecksSaveMs(const Analyzed& one) {
  const Finding* checks = one.Find("cpu_idle", "value_checks");
  return checks == nullptr || BestWall(*checks) == nullptr ? 0 : BestWall(*checks)->ms.mid;
}

TEST_CASE("a check that goes saves all the lead that it costs, not the idle time behind it alone") {
  // Of a layer the host needs 1.4 ms and the GPU 2.2: forty launches are late for the wait alone.
  const double saved = ChecksSaveMs(Layers(400, false));
  // Some of what the host needs is the profiler's.
  CHECK(saved > (kChecked - 2) * 0.7);
  // A host that is late anyway gains no more than what the check takes.
  CHECK(ChecksSaveMs(Layers(10, false)) < kChecked * 0.15);
}

TEST_CASE("allocations that return while the GPU works take the place of no wait") {
  const double without = ChecksSaveMs(Layers(400, false));
  CHECK(ChecksSaveMs(Layers(400, true)) > 0.7 * without);
}

// Six steps of forty launches with 100 us of GPU work each, and a wait behind the `wait`th.
Analyzed Steps(int wait) {
  constexpr int kLaunches = 40;
  TraceText text;
  double at = 0, free = 0;
  int id = 0;
  for (int step = 0; step < 6; ++step) {
    const double begin = at;
    for (int i = 0; i < kLaunches; ++i, at += 60) {
      const double us = i < 20 ? 20 : 150;
      const double start = std::max(at + 12, free + 1);
      text.OpWithKernel("aten::mul", at, 10, "k", start, us, ++id);
      free = start + us;
      if (i + 1 != wait) continue;
      const double back = std::max(at + 30, free + 8);
      text.Runtime("cudaDeviceSynchronize", at + 15, back - at - 15, ++id);
      at = back;
    }
    text.Annotation(fmt::format("ProfilerStep#{}", step + 1), begin, at - begin);
  }
  return Analyze(text);
}

TEST_CASE("one wait amid each step is told, one at the end of each is not") {
  const Analyzed amid = Steps(30);
  const Finding* told = amid.Find("cpu_idle", "synchronisation");
  REQUIRE(told != nullptr);
  CHECK(told->host->count >= 5);
  CHECK(told->host->count < 8);
  CHECK(Steps(40).Find("cpu_idle", "synchronisation") == nullptr);
}

TEST_CASE("of a section the low end is what the call takes that it is named by") {
  HostCause cause;
  cause.kind = HostCauseKind::kSection;
  cause.total_ms = 10;
  cause.places.push_back({"tokenize", "", "", 1, 7});
  CHECK(NamedPart(cause) == doctest::Approx(0.7));
  cause.within = "prepare";  // the function that holds all of it is named
  CHECK(NamedPart(cause) == 1);
  cause.within.clear();
  cause.places.front().ms = 4;  // nothing in it has a name for most of it
  CHECK(NamedPart(cause) == 1);
  cause.places.front().ms = 7;
  cause.kind = HostCauseKind::kWaits;
  CHECK(NamedPart(cause) == 1);
}

// A pass of two hundred launches of 30 us of host each; the first fp32 GEMM of `gemm_us`.
Analyzed Gemms(double gemm_us) {
  TraceText text;
  double at = 0, free = 0;
  for (int i = 0; i < 200; ++i, at += 30) {
    const double start = std::max(at + 12, free + 1);
    text.OpWithKernel("aten::mm", at, 25, "ampere_sgemm_128x128_tn", start, gemm_us, i + 1,
                      testing::Shapes("[[2048,2048],[2048,2048]]", "float"));
    free = start + gemm_us;
  }
  text.Annotation("ProfilerStep#1", 0, free + 10);
  return Analyze(text, "A100-SXM4-80GB");
}

TEST_CASE(
    "where a GPU made faster leaves the host behind, what the host would save then is known") {
  const Analyzed bound = Gemms(1000);
  REQUIRE(bound.analysis.wall.known);
  CHECK(bound.analysis.wall.host_then_ms < 0.1 * bound.analysis.wall.wall_ms);
  const Analyzed near = Gemms(60);
  CHECK(near.analysis.wall.host_then_ms < near.analysis.wall.wall_ms);
}

TEST_CASE("what recording had of a saving lowers its low end, and never raises it") {
  WallSaving saving;
  saving.ms = {8, 10, 12};
  LowerTo(9, &saving);
  CHECK(saving.ms.low == 8);
  CHECK_FALSE(saving.low_by_recording);
  LowerTo(4, &saving);
  CHECK(saving.ms.low == 4);
  CHECK(saving.ms.mid == 10);
  CHECK(saving.low_by_recording);
}

TEST_CASE("what a host that is not recorded lets show raises the high end alone") {
  WallSaving saving;
  saving.ms = {8, 10, 12};
  RaiseTo(9, &saving);
  CHECK(saving.unrecorded_ms == 0);
  RaiseTo(11, &saving);
  CHECK(saving.ms.high == 12);
  RaiseTo(30, &saving);
  CHECK(saving.ms.high == 30);
  CHECK(saving.ms.mid == 10);
  CHECK(saving.unrecorded_ms == 30);
}

TEST_CASE("work that gets faster keeps its launches, work that goes does not") {
  WayOut way;
  way.changes.emplace_back(analysis::ScaleGpu{{1, 2}, {0.5}});
  CHECK(ScalesGpuAlone(way));
  way.changes.emplace_back(analysis::RemoveGpu{{3}});
  CHECK_FALSE(ScalesGpuAlone(way));
}

constexpr int kFreeing = 8;

// Steps that begin with memory given back to the driver and taken again, which waits for the GPU;
// then forty launches of next to nothing and five kernels of 400 us each. `before_us`: of work that
// a step before the recording launched.
double ChurnSavesAtMostMs(double before_us) {
  TraceText text;
  double at = 10, free = before_us;
  int id = 0;
  if (before_us > 0) text.Kernel("k", 0, before_us, 9000);
  for (int step = 0; step < kFreeing; ++step) {
    const double begin = at;
    const auto launch = [&](double us) {
      const double start = std::max(at + 12, free + 1);
      text.OpWithKernel("aten::mul", at, 10, "k", start, us, ++id);
      free = start + us;
      at += 30;
    };
    launch(5);
    const double done = std::max(at + 20, free + 6);
    text.Op("aten::empty", at, done - at + 30);
    text.Runtime("cudaFree", at + 1, done - at - 1, ++id);
    text.Runtime("cudaMalloc", done + 5, 20, ++id);
    at = done + 40;
    for (int i = 0; i < 45; ++i)
      launch(i < 40 ? 5 : 400);
    text.Annotation(fmt::format("ProfilerStep#{}", step), begin, at - begin - 1);
  }
  const Analyzed one = Analyze(text);
  const Finding* churn = one.FindRule(Pattern::kAllocatorChurn);
  REQUIRE(churn != nullptr);
  REQUIRE(BestWall(*churn) != nullptr);
  return BestWall(*churn)->ms.high;
}

TEST_CASE("a first step that waits for work of before the recording loses its lead as well") {
  constexpr double kOfOne = 40 * 0.025;  // the short kernels' launches, less the kernels
  CHECK(ChurnSavesAtMostMs(2500) > (kFreeing - 0.3) * kOfOne);
  // One that finds the GPU without work has no lead to lose.
  CHECK(ChurnSavesAtMostMs(0) < (kFreeing - 0.6) * kOfOne);
}

}  // namespace
}  // namespace jarvis::findings
