// The difference of two ledgers: it adds up, turns with its sides, and names what changed.
#include "ledger/books/difference.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/frames/time_frames.h"
#include "support/trace_builder.h"
#include "table/column_place.h"

namespace jarvis::ledger {
namespace {

using testing::TraceText;

struct KeptLedger {
  std::unique_ptr<testing::Loaded> loaded;
  analysis::BaseOfTime base;
  Books books;
  LedgerSide side() const { return {loaded->events(), base, books}; }
};

KeptLedger LedgerOf(const TraceText& text) {
  KeptLedger kept;
  kept.loaded = std::make_unique<testing::Loaded>(testing::Load(text));
  const trace::EventStore& events = kept.loaded->events();
  const analysis::Attribution attribution = analysis::Attribute(events, kept.loaded->tree);
  const analysis::FrameFacts facts =
      analysis::CollectFrameFacts({events, kept.loaded->tree, attribution});
  kept.base = analysis::MakeTimeFrames(facts).base;
  kept.books = KeepBooks(facts, kept.base, KindsOfWork(events, kept.loaded->tree));
  return kept;
}

// Steps of a product, a generated kernel and a collective beside the product; microseconds.
TraceText Steps(int steps, double product, const char* generated, double collective = 301) {
  TraceText t;
  std::int64_t id = 0;
  for (int i = 0; i < steps; ++i) {
    const double at = 2000.0 * i;
    t.Annotation(fmt::format("ProfilerStep#{}", i), at, 2000);
    t.OpWithKernel("aten::mm", at + 10, 20, "ampere_sgemm_128x64_tn", at + 100, product, ++id);
    t.Op("c10d::allreduce_", at + 40, 10).Runtime("cudaLaunchKernel", at + 42, 5, ++id);
    t.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", at + 150,
             collective, id, 9);
    t.OpWithKernel("aten::gelu", at + 60, 20, generated, at + 1000, 101, ++id);
  }
  return t;
}

const DifferenceLine* Find(const std::vector<DifferenceLine>& lines, std::string_view name) {
  for (const DifferenceLine& line : lines) {
    if (line.line == name) return &line;
  }
  return nullptr;
}

void CheckSums(const LedgerDifference& of) {
  std::int64_t ns[2] = {0, 0};
  std::int64_t delta = 0;
  for (const DifferenceLine& line : of.wall) {
    for (int side = 0; side < 2; ++side)
      ns[side] += line.ns[side];
    delta += line.delta_ns();
  }
  CHECK(ns[0] == of.unit_ns[0]);
  CHECK(ns[1] == of.unit_ns[1]);
  CHECK(delta == of.delta_ns());
  std::int64_t kernels[2] = {0, 0};
  std::int64_t kinds[2] = {0, 0};
  for (int side = 0; side < 2; ++side) {
    for (const DifferenceLine& line : of.kernels)
      kernels[side] += line.ns[side];
    for (const DifferenceLine& line : of.wall)
      kinds[side] += line.gpu_ns[side];
    CHECK(kernels[side] == kinds[side]);
  }
}

TEST_CASE("the lines of the difference add up to that of the units, whatever the units' number") {
  const KeptLedger a = LedgerOf(Steps(7, 500, "triton_poi_fused_gelu_1"));
  const KeptLedger b = LedgerOf(Steps(3, 700, "triton_poi_fused_gelu_4"));
  REQUIRE(a.base.count == 7);
  REQUIRE(b.base.count == 3);
  const LedgerDifference one = DifferenceOf(a.side(), b.side());
  CheckSums(one);
  CHECK(one.unit_ns[0] == a.base.unit_ns());
  const DifferenceLine* product = Find(one.wall, "product");
  REQUIRE(product != nullptr);
  CHECK(product->delta_ns() == -200'000);
  CHECK(product->gpu_ns[1] == 700'000);
  // 50 us of the product are before the collective begins.
  CHECK(product->exposed_ns[1] == 700'000 - 301'000);
  CHECK(product->calls[0] == 1);
  // What the collective is beside is not its own.
  CHECK(Find(one.wall, "exposed communication transfer")->ns[1] == 0);
  CHECK(Find(one.wall, "exposed communication transfer")->gpu_ns[1] == 301'000);
  // A number that a compiler puts behind a name is no other kernel.
  const DifferenceLine* gelu = Find(one.kernels, "triton_poi_fused_gelu");
  REQUIRE(gelu != nullptr);
  CHECK(gelu->delta_ns() == 0);
  CHECK(Find(one.kernels, "ampere_sgemm_128x64_tn")->delta_ns() == -200'000);
}

TEST_CASE("exchanging the sides turns every line") {
  const KeptLedger a = LedgerOf(Steps(7, 500, "triton_poi_fused_gelu_1", 900));
  const KeptLedger b = LedgerOf(Steps(3, 700, "gelu_kernel"));
  const LedgerDifference one = DifferenceOf(a.side(), b.side());
  const LedgerDifference other = DifferenceOf(b.side(), a.side());
  CheckSums(other);
  for (const auto lines :
       {&LedgerDifference::wall, &LedgerDifference::kernels, &LedgerDifference::host}) {
    REQUIRE((one.*lines).size() == (other.*lines).size());
    for (std::size_t i = 0; i < (one.*lines).size(); ++i) {
      const DifferenceLine& x = (one.*lines)[i];
      const DifferenceLine& y = (other.*lines)[i];
      CHECK(x.line == y.line);
      CHECK(x.kind == y.kind);
      CHECK(x.delta_ns() == -y.delta_ns());
      CHECK(x.gpu_ns[0] == y.gpu_ns[1]);
      CHECK(x.exposed_ns[0] == y.exposed_ns[1]);
    }
  }
}

TEST_CASE("a ledger against itself has no difference") {
  const KeptLedger a = LedgerOf(Steps(7, 500, "gelu_kernel", 900));
  const LedgerDifference of = DifferenceOf(a.side(), a.side());
  CheckSums(of);
  for (const auto* lines : {&of.wall, &of.kernels, &of.host}) {
    CHECK_FALSE(lines->empty());
    for (const DifferenceLine& line : *lines)
      CHECK(line.delta_ns() == 0);
  }
  const Table table = DifferenceTable(of);
  CHECK(table.name == "ledger");
  CHECK(table.rows.front()[0] == Cell(std::string("unit")));
  const std::size_t delta = PlaceOf(table.columns, "delta_ms");
  for (const auto& row : table.rows)
    CHECK(row[delta] == Cell(0.0));
}

TEST_CASE("work that moved into a replayed graph is the same kind of work") {
  const auto kernels = [](TraceText* t, std::int64_t first, bool graph) {
    const char* const names[] = {"ampere_sgemm_128x64_tn", "vectorized_layer_norm_kernel",
                                 "ampere_sgemm_128x64_tn"};
    for (std::int64_t i = 0; i < 3; ++i) {
      const double at = 100 + 200.0 * static_cast<double>(i);
      if (graph) {
        t->Kernel(names[i], at, 150, first);
      } else {
        t->OpWithKernel(i == 1 ? "aten::layer_norm" : "aten::mm", 10.0 * static_cast<double>(i), 8,
                        names[i], at, 150, first + i);
      }
    }
  };
  TraceText eager;
  kernels(&eager, 1, false);
  TraceText graph;
  graph.Runtime("cudaGraphLaunch", 0, 20, 1);
  kernels(&graph, 1, true);
  const KeptLedger a = LedgerOf(graph);
  const KeptLedger b = LedgerOf(eager);
  const LedgerDifference of = DifferenceOf(a.side(), b.side());
  CheckSums(of);
  for (const DifferenceLine& line : of.wall) {
    if (!line.work) continue;
    CHECK(line.delta_ns() == 0);
    CHECK(line.gpu_ns[0] == line.gpu_ns[1]);
  }
  CHECK(Find(of.wall, "product")->gpu_ns[0] == 300'000);
  CHECK(Find(of.wall, "normalisation")->gpu_ns[0] == 150'000);
}

}  // namespace
}  // namespace jarvis::ledger
