#include "analysis/frames/iterations.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

std::vector<Iteration> IterationsIn(const TraceText& text) {
  const Loaded loaded = Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  return FindIterations(CollectFrameFacts({loaded.events(), loaded.tree, attribution}));
}

constexpr const char* kPrefill =
    "execute_512_context_1(sq512sk512sqsq262144sqsk262144)_generation_0(sq0sk0sqsq0sqsk0)";
constexpr const char* kDecode =
    "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk2048sqsq4sqsk2048)";

// One prefill and two decode steps, with sampling behind each annotation.
TraceText Served() {
  TraceText t;
  std::int64_t correlation = 1;
  double at = 0;
  for (const char* name : {kPrefill, kDecode, kDecode}) {
    t.Annotation(name, at, 600);
    t.OpWithKernel("aten::mm", at + 100, 50, "gemm", at + 200, 300, correlation++);
    t.OpWithKernel("aten::argmax", at + 700, 50, "sample", at + 760, 40, correlation++);
    at += 1000;
  }
  return t;
}

TEST_CASE("iterations have their tokens, their GPU work and the time to the next one") {
  const std::vector<Iteration> iterations = IterationsIn(Served());
  REQUIRE(iterations.size() == 3);
  CHECK(perf::PhaseOf(iterations[0].sums) == "prefill");
  CHECK(iterations[0].sums.c_sq == 512);
  CHECK(perf::PhaseOf(iterations[1].sums) == "decode");
  CHECK(iterations[1].sums.generation_requests == 4);
  // What is launched behind the annotation is of its step, too.
  CHECK(iterations[1].gpu_events == 2);
  CHECK(iterations[1].busy_ns == 340'000);
  CHECK(iterations[0].period_ns == 1'000'000);
  CHECK(iterations[1].period_ns == 1'000'000);
  CHECK_FALSE(iterations[2].period_ns.has_value());
  const Table table = IterationsTable(iterations);
  REQUIRE(table.rows.size() == 3);
  CHECK(table.columns.size() == table.rows[0].size());
  CHECK(table.rows[1].back() == Cell(4000.0));
  CHECK(table.rows[2].back() == Cell());
}

TEST_CASE("of two annotations around one step that with more in it counts") {
  TraceText t;
  t.Annotation("step[DECODE bs=4]", 0, 1000).Annotation(kDecode, 10, 900);
  t.OpWithKernel("aten::mm", 100, 50, "gemm", 200, 300, 1);
  const std::vector<Iteration> iterations = IterationsIn(t);
  REQUIRE(iterations.size() == 1);
  CHECK(iterations[0].name == kDecode);
  CHECK_FALSE(iterations[0].period_ns.has_value());
}

TEST_CASE("shortened names tell requests and tokens; other annotations are no iterations") {
  TraceText t;
  t.Annotation("execute_context_1(888_788544)_generation_0(0)", 0, 1000);
  t.OpWithKernel("aten::mm", 100, 50, "gemm", 200, 300, 1);
  const std::vector<Iteration> iterations = IterationsIn(t);
  REQUIRE(iterations.size() == 1);
  CHECK(iterations[0].sums.c_sq == 888);
  TraceText other;
  other.Annotation("execute_model", 0, 1000).Annotation("execute_context_x(1)", 10, 20);
  other.OpWithKernel("aten::mm", 100, 50, "gemm", 200, 300, 1);
  CHECK(IterationsIn(other).empty());
}

}  // namespace
}  // namespace jarvis::analysis
