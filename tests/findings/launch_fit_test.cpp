// Late launches: when a graph of them fits, when something has to go first, and when the program is
// too small for a GPU at all.
#include <algorithm>
#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

constexpr int kFitSteps = 4;
constexpr int kFitOps = 60;

// Steps of ops of 40 us every 50, each with a kernel of `kernel_us`. `rows(step, op)` are those of
// the op's input.
TraceText FitSteps(const std::function<int(int, int)>& rows, double kernel_us = 5, int width = 16) {
  TraceText text;
  int id = 0;
  for (int step = 0; step < kFitSteps; ++step) {
    const double begin = 3200.0 * step;
    for (int op = 0; op < kFitOps; ++op) {
      const double at = begin + 10 + 50.0 * op;
      ++id;
      text.Op(
          "aten::mm", at, 40,
          Shapes(fmt::format("[[{},{}],[{},{}]]", rows(step, op), width, width, width), "float"));
      text.Runtime("cudaLaunchKernel", at + 20, 3, id).Kernel("gemm", at + 26, kernel_us, id);
    }
    text.Annotation(fmt::format("ProfilerStep#{}", step), begin, 3190);
  }
  return text;
}

const Finding* LateLaunches(const Analyzed& one) {
  return one.Find("cpu_idle", "launch_bound");
}

const Remedy* GraphOf(const Finding& finding) {
  const auto found = std::ranges::find_if(finding.path_b, [](const Remedy& remedy) {
    return remedy.advice == Advice::kCompileGraphs || remedy.advice == Advice::kGpuGraphs;
  });
  return found == finding.path_b.end() ? nullptr : &*found;
}

bool HasFact(const Remedy& remedy, std::string_view key) {
  return std::ranges::any_of(remedy.facts, [&](const Fact& fact) { return fact.key == key; });
}

TEST_CASE("sizes that differ from step to step have to be padded before a graph") {
  const Analyzed one = Analyze(FitSteps([](int step, int) { return 64 + 10 * step; }));
  const Finding* finding = LateLaunches(one);
  REQUIRE(finding != nullptr);
  CHECK(finding->host->unsure);
  CHECK(BestWall(*finding)->ms.low == 0);
  const Remedy* graph = GraphOf(*finding);
  REQUIRE(graph != nullptr);
  CHECK(HasFact(*graph, "pad"));
}

TEST_CASE("equal steps, and steps in which few sizes differ, need no padding") {
  // Equal within a step or not: what counts is that the next step has the same.
  const auto equal = [](int, int op) { return 64 + op; };
  // Keys that grow by one a token: one op of six.
  const auto keys = [](int step, int op) { return op % 6 == 0 ? 100 + step : 64; };
  for (const auto& rows : {std::function<int(int, int)>(equal), {keys}}) {
    const Analyzed one = Analyze(FitSteps(rows));
    const Finding* finding = LateLaunches(one);
    REQUIRE(finding != nullptr);
    CHECK_FALSE(finding->host->unsure);
    CHECK(BestWall(*finding)->ms.low > 0);
    const Remedy* graph = GraphOf(*finding);
    REQUIRE(graph != nullptr);
    CHECK(graph->advice == Advice::kCompileGraphs);
    CHECK_FALSE(HasFact(*graph, "pad"));
    // Keys that grow need a cache of fixed size where tokens are generated; here none are.
    CHECK_FALSE(HasFact(*graph, "fixed"));
  }
}

// Steps as above of another size each, in which every `apart`-th op makes sizes of values, from the
// op `from` on; in a module's call, if one is given.
Analyzed MakeSizes(int apart, int from, const std::string& module) {
  TraceText text = FitSteps([](int step, int) { return 64 + 10 * step; });
  int id = 100'000;
  for (int step = 0; step < kFitSteps; ++step) {
    const double begin = 3200.0 * step;
    for (int op = from; op < kFitOps; op += apart) {
      const double at = begin + 51 + 50.0 * op;
      ++id;
      text.Op("aten::nonzero", at, 8).Runtime("cudaLaunchKernel", at + 1, 2, id);
      text.Kernel("select", at + 4, 2, id);
    }
    if (!module.empty())
      text.Python("nn.Module: " + module, begin + 5, 3150)
          .Python("nn.Module: Net_0", begin + 2, 3180);
  }
  return Analyze(text);
}

TEST_CASE("where values make sizes inside the model, padding its inputs fixes nothing") {
  const Analyzed made = MakeSizes(6, 3, "");
  const Finding* finding = LateLaunches(made);
  REQUIRE(finding != nullptr);
  REQUIRE_FALSE(finding->path_a.empty());
  CHECK(GraphOf(*finding) == nullptr);
  CHECK(HasFact(finding->path_a.front(), "fixed"));
  CHECK_FALSE(HasFact(finding->path_a.front(), "pad"));
  CHECK(finding->wall_a.has_value());
  CHECK_FALSE(finding->wall_b.has_value());
  // A few, and those that take the results apart at the end, are no part of the model.
  for (const Analyzed& other : {MakeSizes(25, 3, ""), MakeSizes(2, 47, "")}) {
    REQUIRE(LateLaunches(other) != nullptr);
    REQUIRE(GraphOf(*LateLaunches(other)) != nullptr);
    CHECK(HasFact(*GraphOf(*LateLaunches(other)), "pad"));
  }
}

// One op a step that launches `launches` kernels itself.
TraceText LibraryCalls(int launches) {
  TraceText text;
  int id = 0;
  for (int step = 0; step < kFitSteps; ++step) {
    const double begin = 6000.0 * step;
    text.Op("aten::_cudnn_rnn", begin + 10, 5900, Shapes("[[100,8,64],[64,64]]", "float"));
    for (int i = 0; i < launches; ++i) {
      const double at = begin + 20 + 5800.0 / launches * i;
      ++id;
      text.Runtime("cudaLaunchKernel", at, 4, id).Kernel("gemm", at + 6, 5, id);
    }
    text.Annotation(fmt::format("ProfilerStep#{}", step), begin, 5990);
  }
  return text;
}

TEST_CASE("the compiler leaves a library's loop of launches as it is, a graph does not") {
  const Analyzed loop = Analyze(LibraryCalls(200));
  REQUIRE(LateLaunches(loop) != nullptr);
  REQUIRE(GraphOf(*LateLaunches(loop)) != nullptr);
  CHECK(GraphOf(*LateLaunches(loop))->advice == Advice::kGpuGraphs);
  // An op that launches some kernels is one like others.
  const Analyzed few = Analyze(LibraryCalls(60));
  REQUIRE(LateLaunches(few) != nullptr);
  REQUIRE(GraphOf(*LateLaunches(few)) != nullptr);
  CHECK(GraphOf(*LateLaunches(few))->advice == Advice::kCompileGraphs);
}

TEST_CASE("a step takes no longer without what recording costs, and the more ops the less") {
  const auto part_of = [](const Analyzed& one) {
    const WallBase& wall = one.analysis.wall;
    REQUIRE(wall.unrecorded_ms.has_value());
    CHECK(wall.unrecorded_ms->low > 0);
    const double recorded_ms = one.analysis.base.total_ms;
    CHECK(wall.unrecorded_ms->low < recorded_ms);
    CHECK(wall.unrecorded_ms->low <= wall.unrecorded_ms->mid);
    CHECK(wall.unrecorded_ms->mid <= wall.unrecorded_ms->high);
    CHECK(wall.unrecorded_ms->high <= recorded_ms);
    if (wall.of_unrecorded) CHECK(wall.wall_ms == wall.unrecorded_ms->mid);
    return wall.unrecorded_ms->low / recorded_ms;
  };
  const auto rows = [](int, int) { return 64; };
  TraceText text = FitSteps(rows);
  const double few = part_of(Analyze(text));
  // The same launches, each inside two ops more.
  for (int step = 0; step < kFitSteps; ++step) {
    for (int op = 0; op < kFitOps; ++op) {
      const double at = 3200.0 * step + 10 + 50.0 * op;
      text.Op("aten::matmul", at - 1, 42).Op("aten::linear", at - 2, 44);
    }
  }
  CHECK(part_of(Analyze(text)) < few);
}

const Finding* TooSmall(const Analyzed& one) {
  return one.FindRule(Pattern::kSmallForGpu);
}

TEST_CASE("what one core computes sooner than it is launched needs no GPU") {
  const auto rows = [](int, int) { return 32; };
  const Analyzed one = Analyze(FitSteps(rows, 2), "H100");
  const Finding* finding = TooSmall(one);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->wall_b.has_value());
  // Of 240 ops of 40 us no more than 85% go, and at least their calls of 3 us.
  CHECK(finding->wall_b->ms.high <= 0.85 * 240 * 0.040);
  CHECK(finding->wall_b->ms.mid >= 240 * 0.003);
  CHECK(finding->wall_b->ms.low < finding->wall_b->ms.mid);
  // It is a fix for the time in which the GPU waits for launches.
  CHECK(std::ranges::count(finding->lines.idle, ledger::IdleCause::kHostIssues) == 1);

  // Sizes that differ leave a graph behind it: without the GPU nothing is left of what is about its
  // work or about feeding it.
  const auto differ = [](int step, int) { return 32 + 8 * step; };
  const Analyzed first = Analyze(FitSteps(differ, 2), "H100");
  const Finding* leaves = TooSmall(first);
  REQUIRE(leaves != nullptr);
  std::size_t others = 0;
  for (const Finding& other : first.analysis.findings) {
    const WallSaving* best = BestWall(other);
    if (best == nullptr || other.one_off || other.global_rank <= leaves->global_rank) continue;
    ++others;
    CHECK(best->after_others_ms <= 1e-9);
  }
  CHECK(others > 0);

  // The same launches of products whose weights a core reads for longer than they take.
  const Analyzed weights = Analyze(FitSteps(rows, 2, 2048), "H100");
  CHECK(TooSmall(weights) == nullptr);
  // Kernels that are worth their launch.
  const Analyzed longer = Analyze(FitSteps(rows, 8), "H100");
  CHECK(TooSmall(longer) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
