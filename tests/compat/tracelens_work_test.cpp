// Which calls the reference's tables about work are made of, quirks included.
#include "compat/tracelens_work.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compat/move_backward_rows.h"
#include "compat/tracelens.h"
#include "compat/tracelens_models.h"
#include "support/table_rows.h"
#include "support/trace_builder.h"

namespace jarvis::compat {
namespace {

using analysis::WorkCall;
using testing::Load;
using testing::Loaded;
using testing::TraceText;

struct Made {
  explicit Made(const TraceText& text, bool inference = false)
      : loaded(Load(text)), tree(BuildTraceLensTree(loaded.events(), false)) {
    attribution = AttributeLikeTraceLens(loaded.events(), tree, {});
    work = CollectTraceLensWork(loaded.events(), tree, attribution, works, {false, inference});
  }
  // "name [category] uid kernel kernel time", "<- forward" of a sole backward.
  std::string Lines(const std::vector<WorkCall>& calls) const {
    std::string out;
    for (const WorkCall& call : calls) {
      out += fmt::format("{} [{}] {} {} {}", call.name.empty() ? loaded.NameOf(call.op) : call.name,
                         call.category, call.uid, loaded.Names(call.kernels), call.kernel_us);
      if (call.backward) out += " <- " + loaded.NameOf(call.forward);
      out += '\n';
    }
    return out;
  }
  std::string Unified() const { return Lines(work.unified); }
  std::string Family(std::string_view name) const {
    for (const TraceLensWork::Family& family : work.families) {
      if (family.name == name) return Lines(family.calls);
    }
    return "no such table";
  }

  Loaded loaded;
  TraceLensTree tree;
  analysis::Attribution attribution;
  analysis::OpWorks works{loaded.events(), TraceLensModels()};
  TraceLensWork work;
};

constexpr const char* kMm =
    R"("Input Dims":[[8,4],[4,16]],"Input type":["float","float"],"Input Strides":[[4,1],[16,1]],)"
    R"("Concrete Inputs":["",""])";
constexpr const char* kNorm =
    R"("Input Dims":[[2,3,4,4],[3],[3],[3],[3],[],[],[],[]],)"
    R"("Input type":["float","float","float","float","float","Scalar","Scalar","Scalar","Scalar"],)"
    R"("Input Strides":[[48,16,4,1],[1],[1],[1],[1],[],[],[],[]],)"
    R"("Concrete Inputs":["","","","","","True","0.1","1e-05","True"])";
constexpr const char* kConv =
    R"("Sequence number":5,"Input Dims":[[1,3,8,8],[4,3,3,3],[],[],[],[],[],[],[]],)"
    R"("Input type":["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"],)"
    R"("Input Strides":[[192,64,8,1],[27,9,3,1],[],[],[],[],[],[],[]],)"
    R"("Concrete Inputs":["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1"])";

TEST_CASE("a wrapper and its leaf: one row of the summary, two of the family's table (P5, P42)") {
  TraceText text;
  text.Op("aten::batch_norm", 0, 100, kNorm);
  text.OpWithKernel("aten::native_batch_norm", 5, 20, "norm", 200, 30, 1, kNorm);
  const Made made(text);
  CHECK(made.Unified() == "aten::batch_norm [NORM_fwd] 0 norm 30\n");
  CHECK(made.Family("Normalization") ==
        "aten::batch_norm [NORM_fwd] 0 norm 30\naten::native_batch_norm [NORM_fwd] 1 norm 30\n");
}

TEST_CASE("a family lists calls without GPU work too") {
  TraceText text;
  text.Op("aten::mm", 0, 10, kMm).OpWithKernel("aten::mm", 20, 10, "gemm", 100, 5, 1, kMm);
  const Made made(text);
  CHECK(made.Unified() == "aten::mm [GEMM] 1 gemm 5\n");
  CHECK(made.Family("GEMM") == "aten::mm [GEMM] 0  0\naten::mm [GEMM] 1 gemm 5\n");
}

TEST_CASE("collectives and unlinked work are in no row") {
  TraceText text;
  text.OpWithKernel("c10d::allreduce_", 0, 10, "ncclDevKernel_AllReduce", 100, 50, 1);
  text.OpWithKernel("aten::mm", 20, 10, "gemm", 160, 5, 2, kMm);
  text.Kernel("lost", 300, 2, 99);
  CHECK(Made(text).Unified() == "aten::mm [GEMM] 5 gemm 5\n");
}

TEST_CASE("work that the walk misses gets rows of its own, numbered after the events") {
  TraceText text;
  text.Op("wrapper", 0, 100);
  text.Runtime("launch", 1, 2, 1).Kernel("own", 200, 5, 1).Arrow(1);
  text.OpWithKernel("aten::mm", 10, 20, "gemm", 210, 30, 2, kMm);
  text.Runtime("cudaLaunchKernel", 300, 3, 3).Kernel("bare", 400, 4, 3).Arrow(3);
  const Made made(text);
  const auto next = made.loaded.events().elements;
  CHECK(made.Unified() == fmt::format("aten::mm [GEMM] 5 gemm 30\n"
                                      "cudaLaunchKernel->bare (Synthetic Op) [other] {} bare 4\n"
                                      "wrapper->own (Synthetic Op) [other] {} own 5\n",
                                      next, next + 1));
  for (const WorkCall& call : made.work.unified) {
    if (call.name.empty()) continue;
    CHECK_FALSE(call.has_model);
    CHECK_FALSE(call.owns_stack);
  }
}

// A convolution on one thread; on another its autograd node with what `below` adds to it.
template <typename Below>
TraceText Backward(bool first_event, Below below) {
  TraceText text;
  if (!first_event) text.Op("before", 0, 1);
  text.OpWithKernel("aten::convolution", 2, 8, "conv", 50, 5, 1, kConv);
  text.Thread(100, 200).Op("autograd::engine::evaluate_function: ConvolutionBackward0", 100, 80,
                           R"("Sequence number":5)");
  below(text);
  return text;
}
void OneOp(TraceText& text) {
  text.OpWithKernel("ConvolutionBackward0", 105, 20, "grad", 200, 6, 2, R"("Sequence number":5)");
}

TEST_CASE("a sole backward has its forward op's backward work") {
  const Made made(Backward(false, &OneOp));
  CHECK(made.Unified() ==
        "aten::convolution [CONV_fwd] 1 conv 5\n"
        "ConvolutionBackward0 [CONV_bwd] 7 grad 6 <- aten::convolution\n");
  CHECK(made.Family("CONV_bwd") == "aten::convolution [CONV_fwd] 1 grad 6 <- -\n");
}

TEST_CASE("P41: an op with uid 0 is no forward op") {
  CHECK(Made(Backward(true, &OneOp)).Unified().find("ConvolutionBackward0 [CONV_bwd]") ==
        std::string::npos);
}

TEST_CASE("two ops of one name below a node are not sole") {
  const std::string lines = Made(Backward(false, [](TraceText& text) {
                              text.OpWithKernel("ConvolutionBackward0", 105, 20, "one", 200, 6, 2);
                              text.OpWithKernel("ConvolutionBackward0", 130, 20, "two", 210, 7, 3);
                            })).Unified();
  CAPTURE(lines);
  CHECK(lines.find("<-") == std::string::npos);
  CHECK(lines.find(" one 6\n") != std::string::npos);
  CHECK(lines.find(" two 7\n") != std::string::npos);
}

TEST_CASE("T8: a backward node on its forward op's thread is not linked") {
  TraceText text;
  text.Op("before", 0, 1).OpWithKernel("aten::convolution", 2, 8, "conv", 50, 5, 1, kConv);
  text.Op("autograd::engine::evaluate_function: ConvolutionBackward0", 100, 80,
          R"("Sequence number":5)");
  OneOp(text);
  CHECK(Made(text).Unified().find("<-") == std::string::npos);
}

TEST_CASE("E30: a model that declines takes its row out of the summary") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "gemm", 100, 5, 1, kMm);
  text.OpWithKernel("vllm::gdn_attention_core", 20, 10, "gdn", 200, 40, 2,
                    R"("Input Dims":[[8,64],[8,4],[8,4],[8,4,16]],)"
                    R"("Input type":["float","float","float","float"])");
  const Made made(text);
  CHECK(made.Unified() == "aten::mm [GEMM] 0 gemm 5\n");
}

TEST_CASE("rows of four backward ops move to their family's backward table") {
  const Table forward{"CONV_fwd",
                      {"name", "param: M"},
                      {{std::string("aten::convolution"), std::int64_t{1}},
                       {std::string("aten::convolution_backward"), std::int64_t{2}}}};
  std::vector<Table> tables = {forward};
  MoveBackwardRows(&tables, false);
  REQUIRE(tables.size() == 2);
  CHECK(testing::Rows(tables[0], {"name", "param: M"}) == "aten::convolution | 1\n");
  CHECK(tables[1].name == "CONV_bwd");
  CHECK(testing::Rows(tables[1], {"name", "param: M"}) == "aten::convolution_backward | 2\n");
}

}  // namespace
}  // namespace jarvis::compat
