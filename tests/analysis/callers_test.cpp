#include "analysis/tables/callers.h"

#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"
#include "tree/nest.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

struct Made {
  explicit Made(const TraceText& text) : loaded(Load(text)) {}
  Loaded loaded;
  Attribution attribution = Attribute(loaded.events(), loaded.tree);
  std::vector<Step> steps = FindSteps(loaded.events(), loaded.tree);
  SummaryInput input{loaded.events(), loaded.tree, loaded.trace.track_names, attribution, steps};
  ChainTree chains{loaded.events(), loaded.tree};

  std::vector<Caller> CallersOf(std::string_view name, GroupBy by) {
    summary = Summarize(input, by);
    for (const SummaryRow& row : summary.rows) {
      if (row.name == name) return FindCallers(input, row, by, &chains);
    }
    FAIL("no row ", name);
    return {};
  }
  Summary summary;
};

// An op below a module frame, a user's frame and library frames.
TraceText& Call(TraceText& t, const std::string& module, double at, double us, int id) {
  t.Python("train.py(9): step", at, 400).Module("Net_0", at + 1, 390).Module(module, at + 2, 300);
  t.Python("torch/nn/modules/module.py(1): _call_impl", at + 3, 200)
      .Python("<built-in method mm>", at + 4, 100);
  return t.OpWithKernel("aten::mm", at + 10, 20, "gemm", at + 500, us, id);
}

TEST_CASE("one chain for all instances of a layer, the costliest first") {
  TraceText t;
  Call(t, "Linear_0", 0, 10, 1);
  Call(t, "Linear_17", 1000, 20, 2);
  Call(t, "Attention_0", 2000, 50, 3);
  Made made(t);
  for (const GroupBy by : {GroupBy::kOp, GroupBy::kKernel}) {
    const auto callers = made.CallersOf(by == GroupBy::kOp ? "aten::mm" : "gemm", by);
    REQUIRE(callers.size() == 2);
    CHECK(ModulePath(callers[0].frames) == "Net / Attention");
    CHECK(callers[0].gpu_us == 50);
    CHECK(callers[0].count == 1);
    CHECK(ModulePath(callers[1].frames) == "Net / Linear");
    CHECK(callers[1].gpu_us == 30);
    CHECK(callers[1].count == 2);
    CHECK(made.loaded.events()[callers[1].example].ts_ns == 10000);
    CHECK(callers[1].frames.front().name == "aten::mm");
  }
}

TEST_CASE("code places name the user's lines") {
  TraceText t;
  Made made(Call(t, "Linear_0", 0, 10, 1));
  const auto callers = made.CallersOf("aten::mm", GroupBy::kOp);
  const auto places = CodePlaces(callers[0].frames, 8);
  REQUIRE_FALSE(places.empty());
  CHECK(places.back() == "train.py(9): step");
  CHECK(CodePlaces(callers[0].frames, 0).empty());
  CHECK(CodePlaces({}, 8).empty());
}

TEST_CASE("a backward op is found through its forward op") {
  TraceText t;
  t.Thread(1, 1)
      .Python("train.py(9): step", 0, 400)
      .Module("Net_0", 1, 390)
      .Module("Linear_3", 2, 300);
  t.OpWithKernel("aten::mm", 10, 20, "gemm", 500, 40, 1, R"("Sequence number":5)");
  t.Thread(1, 2).Op("autograd::engine::evaluate_function: MmBackward0", 600, 100,
                    R"("Sequence number":5)");
  t.OpWithKernel("aten::mul", 610, 20, "mul", 900, 30, 2);
  Made made(t);
  const auto callers = made.CallersOf("aten::mul", GroupBy::kOp);
  REQUIRE(callers.size() == 1);
  CHECK(ModulePath(callers[0].frames) == "Net / Linear (backward)");
  const std::string path = OpPath(callers[0].frames);
  CHECK(path.find("evaluate_function: MmBackward0 > aten::mul") != std::string::npos);
  CHECK(CodePlaces(callers[0].frames, 8).back() == "train.py(9): step");
}

TEST_CASE("unlinked work has no callers but is counted") {
  TraceText t;
  Made made(t.Kernel("lost", 0, 5, 1).Kernel("lost", 10, 5, 2));
  const auto callers = made.CallersOf("(unlinked) lost", GroupBy::kOp);
  REQUIRE(callers.size() == 1);
  CHECK(callers[0].frames.empty());
  CHECK(callers[0].gpu_us == 10);
  CHECK(callers[0].example == kNoEvent);
}

TEST_CASE("module classes and folded names") {
  CHECK(ModuleClass("nn.Module: DecoderLayer_3") == "DecoderLayer");
  CHECK(ModuleClass("nn.Module: Conv2d_12") == "Conv2d");
  CHECK(ModuleClass("nn.Module: Conv2d") == "Conv2d");
  CHECK(ModuleClass("nn.Module: My_Layer") == "My_Layer");
  CHECK(ModuleClass("aten::mm") == "");
  CHECK(FoldedName("ProfilerStep#17") == FoldedName("ProfilerStep#3"));
  CHECK(FoldedName("nn.Module: Linear_1") == FoldedName("nn.Module: Linear_2"));
  CHECK(FoldedName("aten::conv2d") == "aten::conv2d");
}

TEST_CASE("the parts of a printed subtree add up") {
  TraceText t;
  t.Op("outer", 0, 1000);
  for (int i = 0; i < 30; ++i) {
    t.Op("middle", 10 + 30 * i, 25);
    t.OpWithKernel("inner", 11 + 30 * i, 20, "k" + std::to_string(i), 2000 + 20 * i, 10, i + 1);
  }
  Made made(t);
  const EventIndex root = made.loaded.Find("outer");
  for (const int depth : {1, 2, 3, 8}) {
    for (const std::size_t nodes_max :
         {std::size_t{1}, std::size_t{5}, std::size_t{40}, std::size_t{500}}) {
      const auto nodes = PrintableSubtree(made.input, root, depth, nodes_max);
      CAPTURE(depth);
      CAPTURE(nodes_max);
      REQUIRE_FALSE(nodes.empty());
      CHECK(nodes[0].name == "outer");
      CHECK(nodes[0].gpu_us == 300);
      CHECK(nodes.size() <= 2 * nodes_max + 2);
      // Each node's time is the sum of the nodes directly below it.
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        double below = 0;
        bool any = false;
        for (std::size_t j = i + 1; j < nodes.size() && nodes[j].depth > nodes[i].depth; ++j) {
          if (nodes[j].depth != nodes[i].depth + 1) continue;
          below += nodes[j].gpu_us;
          any = true;
        }
        if (any) CHECK(below == doctest::Approx(nodes[i].gpu_us));
      }
    }
  }
}

TEST_CASE("chains of any depth") {
  TraceText t;
  constexpr int kLevels = 20000;
  for (int i = 0; i < kLevels; ++i)
    t.Python("f", i, 3.0 * kLevels - 2.0 * i);
  t.OpWithKernel("op", kLevels, 8, "k", 200000, 5, 1);
  Made made(t);
  CHECK(made.CallersOf("op", GroupBy::kOp)[0].frames.size() == tree::kLevelsMax);
  CHECK(PrintableSubtree(made.input, made.loaded.Find("f"), 8, 40).size() <= 41);
}

TEST_CASE("a long path of modules and a long list of ops show their ends") {
  const auto nested = [](int modules, int ops) {
    TraceText t;
    const int levels = modules + ops;
    for (int i = 0; i < modules; ++i)
      t.Module("M" + std::to_string(i) + "x", i, 3.0 * levels - 2.0 * i);
    for (int i = modules; i < levels; ++i)
      t.Op("op" + std::to_string(i - modules), i, 3.0 * levels - 2.0 * i);
    return t.Runtime("launch", levels, 1, 1).Kernel("k", 1000, 5, 1);
  };
  Made whole(nested(48, 24));
  const Caller few = whole.CallersOf("op23", GroupBy::kOp)[0];
  CHECK(ModulePath(few.frames).find("M22x / M23x / M24x / M25x") != std::string::npos);
  CHECK(OpPath(few.frames).find("op10 > op11 > op12 > op13") != std::string::npos);
  Made cut(nested(51, 27));
  const Caller many = cut.CallersOf("op26", GroupBy::kOp)[0];
  CHECK(ModulePath(many.frames).find("M23x / ... 3 modules ... / M27x") != std::string::npos);
  CHECK(ModulePath(many.frames).ends_with("M50x"));
  CHECK(OpPath(many.frames).find("op11 > ... > op15") != std::string::npos);
}

TEST_CASE("no more chains have frames than an answer shows") {
  TraceText t;
  for (int i = 0; i < 300; ++i) {
    const std::string frame = "f.py(" + std::to_string(i) + "): f";
    t.Python(frame, 100 * i, 60);
    t.OpWithKernel("op", 100 * i + 5, 8, "k", 100000 + 100 * i, 300 - i, i + 1);
  }
  Made made(t);
  const std::vector<Caller> callers = made.CallersOf("op", GroupBy::kOp);
  REQUIRE(callers.size() == 300);
  CHECK(callers[199].frames.size() == 2);
  CHECK(callers[199].frames.back().name == "f.py(199): f");
  CHECK(callers[200].frames.empty());
  CHECK(callers[299].gpu_us == 1);
}

}  // namespace
}  // namespace jarvis::analysis
