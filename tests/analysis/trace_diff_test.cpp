#include <doctest/doctest.h>

#include "analysis/align/diff.h"
#include "analysis/align/names.h"
#include "support/diff_support.h"
#include "support/table_rows.h"

namespace jarvis::analysis {
namespace {

using testing::Groups;
using testing::Load;
using testing::Loaded;
using testing::TraceText;

struct Compared {
  Compared(const TraceText& a, const TraceText& b) : loaded{Load(a), Load(b)} {
    DiffNames names(&FoldedDiffName);
    for (const int i : {0, 1}) {
      const Loaded& from = loaded[i];
      DiffSide& side = diff.sides[i];
      side.events = &from.events();
      side.tree = MakeDiffTree(from.events(), from.tree, names);
      side.op_of = [&from](EventIndex e) {
        return from.tree.Enclosing(from.events(), e, trace::EventKind::kCpuOp);
      };
      side.caller = [&from](EventIndex e) { return from.tree.parent(e); };
      side.unlinked.assign(from.tree.unlinked().begin(), from.tree.unlinked().end());
    }
    testing::Align(&diff);
  }
  Loaded loaded[2];
  TraceDiff diff;
};

// A layer with one op for each kernel given, of 10 us each.
TraceText Layer(std::initializer_list<std::pair<const char*, const char*>> ops,
                const char* module = "Layer_0") {
  TraceText text;
  text.Module(module, 0, 1000);
  int id = 0;
  for (const auto& [op, kernel] : ops) {
    ++id;
    text.OpWithKernel(op, 1 + id * 20, 10, kernel, 2000 + id * 20, 10, id);
  }
  return text;
}

TEST_CASE("the same calls are compared with each other, whatever their kernels") {
  const Compared c(Layer({{"mm", "gemm_a"}, {"relu", "relu"}}),
                   Layer({{"mm", "gemm_b"}, {"relu", "relu"}}, "Layer_5"));
  CHECK(Groups(c.diff) == "mm: gemm_a | gemm_b; relu: relu | relu");
}

TEST_CASE("calls of one trace are compared as a whole below what both have") {
  const Compared c(Layer({{"mm", "g"}, {"bias", "b"}, {"gelu", "e"}}),
                   Layer({{"mm", "g"}, {"fused", "f"}}));
  CHECK(Groups(c.diff) == "nn.Module: Layer_0: b e | f; g: g | g");
  CHECK(c.diff.groups[0].busy_us[0] == 20);
  CHECK(c.diff.groups[0].busy_us[1] == 10);
}

TEST_CASE("a single call that has another name in the same place is the same call") {
  const Compared c(Layer({{"mm", "g"}, {"flash_attention", "f"}, {"mm", "g"}}),
                   Layer({{"mm", "g"}, {"math_attention", "m"}, {"mm", "g"}}));
  CHECK(Groups(c.diff) == "g: g | g; g: g | g; flash_attention | math_attention: f | m");
}

TEST_CASE("a wrapper that one trace has is passed over") {
  TraceText wrapped;
  wrapped.Module("Layer_0", 0, 1000).Op("linear", 10, 100);
  wrapped.OpWithKernel("mm", 20, 10, "g", 2000, 10, 1);
  wrapped.OpWithKernel("relu", 200, 10, "r", 2100, 10, 2);
  const Compared c(wrapped, Layer({{"mm", "g"}, {"relu", "r"}}));
  CHECK(Groups(c.diff) == "r: r | r; g: g | g");
}

TEST_CASE("a call that did GPU work in one trace only is still the same call") {
  TraceText without;
  without.Module("Layer_0", 0, 1000).Op("fill", 20, 5);
  without.OpWithKernel("mm", 40, 10, "g", 2000, 10, 1);
  const Compared c(Layer({{"fill", "f"}, {"mm", "g"}}), without);
  CHECK(Groups(c.diff) == "fill: f |; g: g | g");
}

TEST_CASE("work without a launch is a group of its own") {
  TraceText a = Layer({{"mm", "g"}});
  a.Kernel("lost", 5000, 3, 99);
  TraceText b = Layer({{"mm", "g"}});
  b.Kernel("other", 5000, 4, 99).Kernel("one", 5010, 4, 98);
  const Compared c(a, b);
  CHECK(Groups(c.diff) == "g: g | g; (unlinked): lost | other one");
}

TEST_CASE("threads are told apart by what they do") {
  TraceText a, b;
  a.Thread(1, 1).OpWithKernel("fwd", 0, 10, "f", 1000, 10, 1);
  a.Thread(1, 2).OpWithKernel("bwd", 20, 10, "b", 1100, 10, 2);
  b.Thread(1, 7).OpWithKernel("bwd", 20, 10, "b", 1100, 10, 2);
  b.Thread(1, 8).OpWithKernel("fwd", 0, 10, "f", 1000, 10, 1);
  CHECK(Groups(Compared(a, b).diff) == "f: f | f; b: b | b");
}

TEST_CASE("identical traces differ in nothing; exchanged ones mirror each other") {
  const TraceText a = Layer({{"mm", "g"}, {"bias", "b"}, {"gelu", "e"}});
  const TraceText b = Layer({{"mm", "g2"}, {"fused", "f"}, {"x", "x"}, {"y", "y"}});
  const Compared same(a, a);
  CHECK(DiffIsEmpty(DiffStats(same.diff, {})));
  for (const auto& row : DiffSummary(same.diff).rows)
    CHECK(std::get<std::string>(row.back()) == "equal");
  const Compared ab(a, b);
  const Compared ba(b, a);
  CHECK_FALSE(DiffIsEmpty(DiffStats(ab.diff, {})));
  REQUIRE(ab.diff.groups.size() == ba.diff.groups.size());
  for (std::size_t i = 0; i < ab.diff.groups.size(); ++i) {
    CHECK(ab.diff.groups[i].gpu[0].size() == ba.diff.groups[i].gpu[1].size());
    CHECK(ab.diff.groups[i].busy_us[1] == ba.diff.groups[i].busy_us[0]);
  }
}

TEST_CASE("traces with nothing in common, without GPU work, empty") {
  TraceText cpu;
  cpu.Op("cpu", 0, 10);
  const TraceText gpu = Layer({{"mm", "g"}, {"relu", "r"}});
  CHECK(Groups(Compared(cpu, cpu).diff).empty());
  const Compared c(cpu, gpu);
  CHECK(Groups(c.diff) == "(trace) | nn.Module: Layer_0: | g r");
  CHECK(MergedTreeText(Compared(cpu, cpu).diff, 10) == "└── (trace)\n");
  TraceText other;
  other.OpWithKernel("a", 0, 10, "x", 1000, 7, 1).OpWithKernel("b", 20, 10, "y", 1100, 7, 2);
  double us = 0;
  for (const DiffGroup& group : Compared(gpu, other).diff.groups)
    us += group.busy_us[0] + group.busy_us[1];
  CHECK(us == 34);
}

TEST_CASE("a trace of any depth is aligned without recursion") {
  TraceText deep;
  constexpr int kDepth = 20000;
  for (int i = 0; i < kDepth; ++i)
    deep.Op("f" + std::to_string(i % 3), i, 100000 - 2 * i);
  testing::TraceText twin = deep;
  deep.Runtime("hipLaunchKernel", kDepth + 1, 1, 1).Kernel("k", 200000, 5, 1).Arrow(1);
  twin.Runtime("cudaLaunchKernel", kDepth + 1, 1, 1).Kernel("l", 200000, 6, 1).Arrow(1);
  const Compared c(deep, twin);
  REQUIRE(c.diff.groups.size() == 1);
  CHECK(c.diff.groups[0].busy_us[0] == 5);
  CHECK(c.diff.groups[0].busy_us[1] == 6);
  CHECK(MergedTreeText(c.diff, 3).ends_with("more nodes\n"));
}

TEST_CASE("the alignment can be stopped") {
  Compared c(Layer({{"mm", "g"}}), Layer({{"mm", "g"}}));
  Job job;
  job.Stop();
  const Status status = AlignTraces(&c.diff, job);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == ErrorCode::kCancelled);
}

TEST_CASE("the merged tree as text") {
  const Compared c(Layer({{"mm", "g"}, {"bias", "b"}, {"gelu", "e"}}),
                   Layer({{"mm", "g"}, {"fused", "f"}}));
  CHECK(MergedTreeText(c.diff, 100) ==
        "└── (trace)\n"
        "    └── (thread)\n"
        "        └── nn.Module: Layer_0\n"
        "            ├── mm\n"
        "            │   └── g\n"
        "            ├── >> trace1: bias\n"
        "            │   └── >> trace1: b\n"
        "            ├── >> trace1: gelu\n"
        "            │   └── >> trace1: e\n"
        "            └── << trace2: fused\n"
        "                └── << trace2: f\n");
}

TEST_CASE("rows that share an ancestor share its time, and add up to it") {
  const Compared c(Layer({{"mm", "g"}, {"bias", "b"}, {"gelu", "e"}, {"gelu", "e"}}),
                   Layer({{"mm", "g"}, {"fused", "f"}}));
  const ExtraColumns columns = LcaColumns(c.diff);
  const auto cells = [&](const char* kernel, int n) {
    const EventIndex e = c.loaded[0].Find(kernel, n);
    return columns.cells(std::span(&e, 1), 10);
  };
  const auto us = [](const std::vector<Cell>& row, std::size_t side) {
    return std::get<double>(row[5 + side]);
  };
  // b and both e are 10 us each against the 10 us of f.
  double sum[2] = {0, 0};
  for (const auto& row : {cells("b", 0), cells("e", 0), cells("e", 1)}) {
    CHECK(us(row, 0) == doctest::Approx(10));
    CHECK(us(row, 1) == doctest::Approx(10.0 / 3));
    CHECK(std::get<double>(row[0]) == doctest::Approx(1.0 / 3));
    CHECK(std::get<std::string>(row[7]) == "1 of 1");
    for (const std::size_t side : {0u, 1u})
      sum[side] += us(row, side);
  }
  CHECK(sum[0] == doctest::Approx(30));
  CHECK(sum[1] == doctest::Approx(10));
  const auto own = cells("g", 0);
  CHECK(us(own, 0) == 10);
  CHECK(std::get<double>(own[1]) == 0);
  CHECK(std::get<std::string>(own[7]) == "0 of 1");
}

TEST_CASE(
    "what is below an ancestor is added up by name and module, the largest difference first") {
  const Compared c(Layer({{"mm", "g"}, {"bias", "b"}, {"gelu", "e"}}),
                   Layer({{"mm", "g"}, {"fused", "f"}}));
  const Table table = DiffSummary(c.diff);
  REQUIRE(table.rows.size() == 2);
  CHECK(std::get<std::string>(table.rows[0][0]) == "nn.Module: Layer");
  CHECK(std::get<double>(table.rows[0][7]) == -10);
  CHECK(std::get<std::string>(table.rows[0].back()) == "trace 2 takes 10.000 µs less");
  CHECK(std::get<std::string>(table.rows[1][0]) == "mm");
  CHECK(std::get<std::string>(table.rows[1].back()) == "equal");
}

TEST_CASE("equal rows of diff_stats are added up") {
  const Compared c(Layer({{"gelu", "e"}, {"gelu", "e"}}), Layer({{"gelu", "e2"}, {"gelu", "e2"}}));
  const Table stats = DiffStats(c.diff, {});
  CHECK(stats.rows.size() == 4);
  const Table summary = DiffStatsSummary(
      stats, {"lowest_common_ancestor_id", "gpu_op_uid", "cpu_op_uid", "busy_time"});
  REQUIRE(summary.rows.size() == 2);
  CHECK(std::get<std::string>(summary.rows[0][0]) == "e");
  CHECK(std::get<std::int64_t>(summary.rows[0][1]) == 2);
  CHECK(std::get<double>(summary.rows[0].back()) == 20);
}

}  // namespace
}  // namespace jarvis::analysis
