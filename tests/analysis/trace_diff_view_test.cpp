#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/align/names.h"
#include "analysis/align/view.h"
#include "support/diff_support.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

// Layers of two ops; `us`: of the second one's kernel.
TraceText Layers(int layers, double us, const char* kernel) {
  TraceText text;
  text.Module("Net_0", 0, 100000);
  for (int i = 0; i < layers; ++i) {
    const int at = 1 + i * 100;
    text.Module("Layer_" + std::to_string(i), at, 90);
    text.Python("layer.py(3): forward", at + 1, 80);
    text.OpWithKernel("mm", at + 2, 10, "gemm", 200000 + at, 10, 2 * i + 1);
    text.OpWithKernel("add", at + 20, 10, kernel, 200040 + at, us, 2 * i + 2);
  }
  return text;
}

struct ComparedView {
  ComparedView(const TraceText& a, const TraceText& b) : loaded{Load(a), Load(b)} {
    DiffNames names(&FoldedDiffName);
    for (const int i : {0, 1}) {
      DiffSide& side = diff.sides[i];
      side.events = &loaded[i].events();
      side.tree = MakeDiffTree(*side.events, loaded[i].tree, names);
      side.caller = [tree = &loaded[i].tree](EventIndex e) { return tree->parent(e); };
    }
    testing::Align(&diff);
  }
  Loaded loaded[2];
  TraceDiff diff;
};

std::string Text(const std::vector<DiffLine>& lines) {
  std::string text;
  for (const DiffLine& line : lines) {
    text += fmt::format("{:{}}{} x{} {}|{}\n", "", 2 * line.depth, line.more ? "..." : line.name,
                        line.count, line.us[0], line.us[1]);
  }
  return text;
}

TEST_CASE("a place side by side: equal siblings as one line, frames passed over") {
  const ComparedView c(Layers(3, 5, "add_a"), Layers(3, 7, "add_b"));
  const DiffView view(c.diff);
  CHECK(Text(view.Lines(view.NodesNamed("Net"), 20)) ==
        "nn.Module: Net x1 45|51\n"
        "  nn.Module: Layer x3 45|51\n"
        "    mm x3 30|30\n"
        "      gemm x3 30|30\n"
        "    add x3 15|21\n"
        "      add_b x3 0|21\n"
        "      add_a x3 15|0\n");
  // What differs is opened first.
  CHECK(Text(view.Lines(view.NodesNamed("Layer"), 5)) ==
        "nn.Module: Layer x3 45|51\n"
        "  mm x3 30|30\n"
        "  add x3 15|21\n"
        "    add_b x3 0|21\n"
        "    add_a x3 15|0\n");
}

TEST_CASE("the parts of a line add up to it, however few lines there are") {
  const ComparedView c(Layers(4, 5, "add_a"), Layers(7, 7, "add_b"));
  const DiffView view(c.diff);
  for (const std::size_t most : {1u, 2u, 3u, 4u, 6u, 30u}) {
    const std::vector<DiffLine> lines = view.Lines(view.NodesNamed("Net"), most);
    CHECK(lines.size() <= most + 1);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      double us[2] = {0, 0};
      bool parent = false;
      for (std::size_t k = i + 1; k < lines.size() && lines[k].depth > lines[i].depth; ++k) {
        if (lines[k].depth != lines[i].depth + 1) continue;
        parent = true;
        us[0] += lines[k].us[0];
        us[1] += lines[k].us[1];
      }
      if (!parent) continue;
      CHECK(us[0] == doctest::Approx(lines[i].us[0]));
      CHECK(us[1] == doctest::Approx(lines[i].us[1]));
    }
  }
}

TEST_CASE("events of a trace are found again in the merged tree") {
  const ComparedView c(Layers(3, 5, "add_a"), Layers(3, 7, "add_b"));
  const DiffView view(c.diff);
  const EventIndex ops[] = {c.loaded[0].Find("add"), c.loaded[0].Find("add", 2)};
  const auto nodes = view.NodesOf(0, ops);
  REQUIRE(nodes.size() == 2);
  CHECK(Text(view.Lines(nodes, 1)) == "add x2 10|14\n");
  // A launch call is no node of its own: it is seen in its op.
  const EventIndex call[] = {c.loaded[1].Find("cudaLaunchKernel")};
  CHECK(view.NodesOf(1, call).size() == 1);
  CHECK(view.NodesOf(0, {}).empty());
  CHECK(view.NodesNamed("none").empty());
  CHECK(view.Lines({}, 10).empty());
}

TEST_CASE("differences in words") {
  CHECK(DifferenceInWords(1, 3, true, true, "ms") == "trace 2 takes 2.000 ms longer");
  CHECK(DifferenceInWords(3, 1, true, true, "us") == "trace 2 takes 2.000 us less");
  CHECK(DifferenceInWords(1, 1, true, true, "us") == "equal");
  CHECK(DifferenceInWords(1, 0, true, false, "us") == "in trace 1 only");
  CHECK(DifferenceInWords(0, 1, false, true, "us") == "in trace 2 only");
}

}  // namespace
}  // namespace jarvis::analysis
