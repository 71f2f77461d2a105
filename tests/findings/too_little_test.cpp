// Recordings of a program's start, and building GPU graphs against what they save.
#include "findings/one/too_little.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

constexpr std::string_view kByNsys = R"("recording":{"profiler":"nsys"})";

// A context, memory and a stream, then `kinds` kernels of 2 us, each launched `times` times.
TraceText Program(int kinds, int times, double start_us = 400) {
  TraceText text;
  text.Runtime("cudaFree", 0, start_us, 9001);
  text.Runtime("cudaMalloc", start_us + 10, 60, 9002);
  text.Runtime("cudaStreamCreate", start_us + 80, 15, 9003);
  double at = start_us + 200;
  int correlation = 0;
  for (int i = 0; i < times; ++i) {
    for (int kind = 0; kind < kinds; ++kind) {
      text.Runtime("cudaLaunchKernel", at, 6, ++correlation);
      text.Kernel(fmt::format("kernel_{}", kind), at + 9, 2, correlation);
      at += 20;
    }
  }
  return text;
}

TEST_CASE("a few launches behind the start of a program are too little to rank") {
  const Analyzed one = Analyze(Program(3, 2), "", kByNsys);
  REQUIRE(one.analysis.too_little.has_value());
  const TooLittle& found = *one.analysis.too_little;
  CHECK(found.kernels == 6);
  CHECK(found.gpu_ms == doctest::Approx(0.012));
  CHECK(found.start_up_ms == doctest::Approx(0.475));
  REQUIRE(found.calls.size() == 3);
  CHECK(found.calls.front().name == "cudaFree");
  CHECK(found.calls.front().ms == doctest::Approx(0.4));
  // Nothing is ranked, and nothing is added up.
  CHECK(one.analysis.findings.empty());
  CHECK(one.analysis.nothing_because == std::vector<std::string>{"too_little"});
  for (const CategoryAnalysis& category : one.analysis.categories)
    CHECK(category.findings.empty());
  CHECK(one.analysis.uncovered.empty());
}

TEST_CASE("small kernels that repeat are judged, however long the start took") {
  CHECK_FALSE(Analyze(Program(1, 1000), "", kByNsys).analysis.too_little.has_value());
  CHECK_FALSE(Analyze(Program(2, 10), "", kByNsys).analysis.too_little.has_value());
  CHECK(Analyze(Program(2, 9), "", kByNsys).analysis.too_little.has_value());
  // Many kernels, none of which repeats: one pass of a model.
  CHECK_FALSE(Analyze(Program(60, 1), "", kByNsys).analysis.too_little.has_value());
}

TEST_CASE("where start-up is the smaller part a few launches are judged") {
  TraceText warm;
  warm.Runtime("cudaStreamCreate", 0, 15, 9003);
  for (int i = 0; i < 6; ++i) {
    warm.Runtime("cudaLaunchKernel", 100 + 20 * i, 6, i + 1);
    warm.Kernel("k", 109 + 20 * i, 2, i + 1);
  }
  CHECK_FALSE(Analyze(warm, "", kByNsys).analysis.too_little.has_value());
  // Long kernels are the workload.
  TraceText text;
  text.Runtime("cudaMalloc", 0, 300, 9001);
  for (int i = 0; i < 4; ++i) {
    text.Runtime("cudaLaunchKernel", 400 + 20 * i, 6, i + 1);
    text.Kernel("gemm", 500 + 2100 * i, 2000, i + 1);
  }
  CHECK_FALSE(Analyze(text, "", kByNsys).analysis.too_little.has_value());
  // Steps that are marked are what the user asks about.
  TraceText steps = Program(2, 2);
  steps.Annotation("ProfilerStep#1", 590, 45).Annotation("ProfilerStep#2", 636, 45);
  CHECK_FALSE(Analyze(steps).analysis.too_little.has_value());
}

// A graph of `nodes` launches is captured and instantiated in 60 us, and replayed `replays` times.
Analyzed Graph(int nodes, int replays) {
  TraceText text;
  double at = 0;
  int correlation = 0;
  for (int i = 0; i < 12; ++i) {
    text.Runtime("cudaLaunchKernel", at, 6, ++correlation);
    text.Kernel("k", at + 9, 5, correlation);
    at += 20;
  }
  text.Runtime("cudaStreamBeginCapture", at, 5, ++correlation);
  for (int i = 0; i < nodes; ++i)
    text.Runtime("cudaLaunchKernel", at + 10 + 8 * i, 6, ++correlation);
  at += 10 + 8 * nodes;
  text.Runtime("cudaStreamEndCapture", at, 5, ++correlation);
  text.Runtime("cudaGraphInstantiate", at + 10, 50, ++correlation);
  at += 100;
  for (int i = 0; i < replays; ++i) {
    text.Runtime("cudaGraphLaunch", at, 8, ++correlation);
    text.Kernel("k", at + 12, 5, correlation);
    at += 30;
  }
  return Analyze(text, "", kByNsys);
}

TEST_CASE("a graph that is replayed too seldom costs more than it saves") {
  const Analyzed one = Graph(2, 2);
  REQUIRE(one.analysis.costly_graph.has_value());
  const GraphBuild& graph = *one.analysis.costly_graph;
  CHECK(graph.graphs == 1);
  CHECK(graph.replays == 2);
  CHECK(graph.build_ms == doctest::Approx(0.060));
  // 21 us of capturing for two launches, less 8 us of a replay, twice.
  CHECK(graph.saves_ms == doctest::Approx(2 * (0.021 - 0.008)).epsilon(0.02));
  // Enough replays, or enough launches in each, pay for it.
  CHECK_FALSE(Graph(2, 40).analysis.costly_graph.has_value());
  CHECK_FALSE(Graph(40, 2).analysis.costly_graph.has_value());
  // Captured before the recording: what it took is unknown.
  CHECK_FALSE(Analyze(Program(2, 20), "", kByNsys).analysis.costly_graph.has_value());
}

TEST_CASE("the recording's length stands beside the work of a start") {
  const std::string recording =
      R"("recording":{"profiler":"nsys","begin_ns":0,"end_ns":468000000,)"
      R"("start_up":[{"what":"CUDA profiling initialization","count":1,"ms":173}]})";
  TraceText text;
  text.Runtime("cudaMalloc", 339'000, 60, 9002);
  text.Runtime("cudaLaunchKernel", 339'190, 6, 1).Kernel("k", 339'200, 2, 1);
  const Analyzed one = Analyze(text, "", recording);
  REQUIRE(one.analysis.recorded_span.has_value());
  CHECK(one.analysis.recorded_span->before_work_ms == doctest::Approx(339.2));
  CHECK_FALSE(Analyze(Program(1, 20), "", kByNsys).analysis.recorded_span.has_value());
}

}  // namespace
}  // namespace jarvis::findings
