#include "compat/tracelens_diff.h"

#include <doctest/doctest.h>

#include "support/diff_support.h"

namespace jarvis::compat {
namespace {

using testing::Groups;
using testing::Load;
using testing::Loaded;
using testing::TraceText;

struct Compared {
  Compared(const TraceText& a, const TraceText& b) : loaded{Load(a), Load(b)} {
    analysis::DiffNames names = TraceLensDiffNames();
    for (const int i : {0, 1}) {
      trees[i] = BuildTraceLensTree(loaded[i].events(), true);
      diff.sides[i] = TraceLensDiffSide(loaded[i].events(), trees[i], names);
    }
    diff.rules = TraceLensDiffRules();
    diff.clock = analysis::Clock::kDoubleMicros;
    testing::Align(&diff);
  }
  Loaded loaded[2];
  TraceLensTree trees[2];
  analysis::TraceDiff diff;
};

// An op with a launch and a kernel of so many microseconds for each given.
TraceText Ops(std::initializer_list<std::tuple<const char*, const char*, double>> ops,
              const char* call = "hipLaunchKernel") {
  TraceText text;
  text.Op("layer", 0, 1000);
  int id = 0;
  for (const auto& [op, kernel, us] : ops) {
    ++id;
    text.Op(op, id * 20, 10).Runtime(call, id * 20 + 1, 2, id);
    text.Kernel(kernel, 2000 + id * 1000, us, id).Arrow(id);
  }
  return text;
}

TEST_CASE("the reference pairs lists of equal length by position") {
  const Compared c(Ops({{"a", "k", 10}, {"b", "l", 10}}), Ops({{"b", "l", 10}, {"a", "k", 10}}));
  CHECK(Groups(c.diff) == "k | l: k | l; l | k: l | k");
}

TEST_CASE("launch calls of other names make the op the place where traces part") {
  const Compared c(Ops({{"a", "k", 10}}), Ops({{"a", "k", 10}}, "cudaLaunchKernel"));
  CHECK(Groups(c.diff) == "a: k | k");
  // The two calls that launch a module's kernel are one.
  const Compared one(Ops({{"a", "k", 10}}, "hipModuleLaunchKernel"),
                     Ops({{"a", "k", 10}}, "cuLaunchKernel"));
  CHECK(Groups(one.diff) == "k: k | k");
}

TEST_CASE("a top-level call of one trace is compared with nothing") {
  TraceText more = Ops({{"a", "k", 10}});
  more.OpWithKernel("extra", 1500, 10, "x", 9000, 7, 50);
  const Compared c(Ops({{"a", "k", 10}}), more);
  const Table table = TraceLensDiffStats(c.diff);
  REQUIRE(table.rows.size() == 3);
  CHECK(std::get<std::string>(table.rows[2][0]) == "x");
  CHECK(std::get<std::string>(table.rows[2][3]) == "trace2");
  CHECK(table.rows[2][10] == Cell());  // no LCA
  CHECK(std::get<std::string>(table.rows[2][13]) == "root");
}

TEST_CASE("identical traces: the rows of one, without the column source") {
  const TraceText text = Ops({{"a", "k", 10}, {"b", "l", 20}});
  const Table table = TraceLensDiffStats(Compared(text, text).diff);
  CHECK(table.rows.size() == 2);
  CHECK(std::find(table.columns.begin(), table.columns.end(), "source") == table.columns.end());
  TraceText cpu;
  cpu.Op("cpu", 0, 10);
  CHECK(TraceLensDiffStats(Compared(cpu, cpu).diff).rows.empty());
}

TEST_CASE("P24: the frames above the first ops are not looked at") {
  TraceText a, b;
  a.Python("main.py(1): main", 0, 1000).Python("run.py(2): run", 1, 900);
  b.Python("main.py(1): main", 0, 1000);
  for (TraceText* text : {&a, &b}) {
    text->OpWithKernel("x", 10, 10, "k", 2000, 5, 1).OpWithKernel("y", 30, 10, "l", 2100, 5, 2);
  }
  CHECK(Groups(Compared(a, b).diff) == "k: k | k; l: l | l");
}

TEST_CASE("A12: each row is held against the whole time of its LCAs") {
  const Compared c(Ops({{"fill_", "fill", 100}, {"fmha", "attention", 425}}),
                   Ops({{"fused", "f", 300}, {"x", "x", 0}, {"y", "y", 0}}, "cudaLaunchKernel"));
  REQUIRE(c.diff.groups.size() == 1);
  const analysis::ExtraColumns columns = TraceLensLcaColumns(c.diff);
  CHECK(columns.names[0] == "speedup (trace2/trace1)");
  const auto cells = [&](const char* kernel, double us) {
    const EventIndex e = c.loaded[0].Find(kernel);
    return columns.cells(std::span(&e, 1), us);
  };
  const auto fill = cells("fill", 100);
  const auto fmha = cells("attention", 500);
  CHECK(fill[0] == Cell(300.0 / 525));
  CHECK(fmha[0] == Cell(300.0 / 525));
  CHECK(fill[1] == Cell(200.0));
  CHECK(fmha[1] == Cell(-200.0));
  CHECK(fmha[2] == Cell(1.0));
  CHECK(fmha[3] == Cell(std::string("0")));
  CHECK(fmha[5] == Cell(525.0));
  CHECK(fmha[6] == Cell(300.0));
  // Work that is in no row of diff_stats has no LCA.
  CHECK(columns.cells({}, 5) == std::vector<Cell>(7));
}

TEST_CASE("an LCA without GPU work in the comparison trace counts as none, with a ratio of 0") {
  const Compared c(Ops({{"a", "k", 10}, {"b", "l", 30}, {"c", "m", 5}}), Ops({{"a", "k", 12}}));
  const analysis::ExtraColumns columns = TraceLensLcaColumns(c.diff);
  std::vector<EventIndex> kernels = {c.loaded[0].Find("l"), c.loaded[0].Find("m")};
  const auto row = columns.cells(kernels, 35);
  CHECK(row[0] == Cell(0.0));
  CHECK(row[1] == Cell(-35.0));
  CHECK(row[2] == Cell(0.0));
  kernels.push_back(c.loaded[0].Find("k"));
  const auto both = columns.cells(kernels, 45);
  CHECK(std::get<std::string>(both[3]).find("; ") != std::string::npos);
  CHECK(both[6] == Cell(12.0));
}

}  // namespace
}  // namespace jarvis::compat
