// Which op owns each piece of GPU work, and what its work is.
#include "analysis/attribution/work_calls.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

struct MadeCalls {
  explicit MadeCalls(const TraceText& text) : loaded(Load(text)) {}

  // "name [category] kernel kernel time"; "<- forward" of a sole backward; "!" before the reason
  // why there are no metrics.
  std::string Lines() {
    std::string out;
    for (const WorkCall& call : calls) {
      out += fmt::format("{} [{}] {} {}", call.name.empty() ? loaded.NameOf(call.op) : call.name,
                         call.category, loaded.Names(call.kernels), call.kernel_us);
      if (call.backward) out += " <- " + loaded.NameOf(call.forward);
      if (call.work != nullptr && call.work->failure != perf::OpWork::Failure::kNone) {
        out += " ! " + call.work->reason;
      }
      out += '\n';
    }
    return out;
  }

  Loaded loaded;
  Attribution attribution = Attribute(loaded.events(), loaded.tree);
  OpWorks works{loaded.events(), perf::BuiltinRows()};
  std::vector<WorkCall> calls =
      CollectWorkCalls({loaded.events(), loaded.tree, attribution, works});
};

std::string Lines(const TraceText& text) {
  return MadeCalls(text).Lines();
}

constexpr const char* kMm =
    R"("Input Dims":[[8,4],[4,16]],"Input type":["float","float"],"Input Strides":[[4,1],[16,1]])";
constexpr const char* kNorm =
    R"("Input Dims":[[2,3,4,4],[3],[3],[3],[3],[],[],[],[]],)"
    R"("Input type":["float","float","float","float","float","Scalar","Scalar","Scalar","Scalar"],)"
    R"("Concrete Inputs":["","","","","","True","0.1","1e-05","True"])";
constexpr const char* kConv =
    R"("Sequence number":5,"Input Dims":[[1,3,8,8],[4,3,3,3],[],[],[],[],[],[],[]],)"
    R"("Input type":["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"],)"
    R"("Concrete Inputs":["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1"])";

TEST_CASE("the topmost modelled op owns the kernels of what it calls") {
  TraceText text;
  text.Op("aten::batch_norm", 0, 100, kNorm);
  text.OpWithKernel("aten::native_batch_norm", 5, 20, "norm", 200, 30, 1, kNorm);
  text.OpWithKernel("aten::copy_", 40, 10, "copy", 220, 20, 2);
  CHECK(Lines(text) == "aten::batch_norm [NORM_fwd] norm copy 40\n");
}

TEST_CASE("an op that tells the shapes of one element leaves its work to the ops below it") {
  constexpr const char* kMapped =
      R"("Input Dims":[[128,4],[4,16]],"Input type":["float","float"],"Input Strides":[[4,1],[16,1]])";
  TraceText text;
  text.Op("aten::mm", 0, 100, kMm);
  text.OpWithKernel("aten::mm", 5, 20, "mapped", 200, 30, 1, kMapped);
  CHECK(Lines(text) == "aten::mm [GEMM] mapped 30\n");
  const MadeCalls made(text);
  REQUIRE(made.calls.size() == 1);
  CHECK(made.calls[0].work->flops == 2.0 * 128 * 4 * 16);
  // What is computed in a few pieces is still its own.
  TraceText pieces;
  pieces.Op("aten::mm", 0, 100, kMm);
  pieces.OpWithKernel("aten::mm", 5, 20, "half", 200, 30, 1, kMm);
  pieces.OpWithKernel("aten::mm", 30, 20, "other half", 240, 30, 2, kMm);
  CHECK(Lines(pieces) == "aten::mm [GEMM] half other half 60\n");
}

TEST_CASE("a check inside an op is no part of what it computes") {
  constexpr const char* kAdd =
      R"("Input Dims":[[64,64],[64,64],[]],"Input type":["float","float","Scalar"],"Input Strides":[[64,1],[64,1],[]])";
  TraceText text;
  text.Op("aten::add", 0, 200, kAdd);
  text.Runtime("launch", 1, 2, 1).Kernel("sum", 300, 5, 1);
  text.Op("aten::allclose", 20, 100);
  text.OpWithKernel("aten::sub", 30, 20, "difference", 310, 7, 2, kAdd);
  const std::string lines = Lines(text);
  CHECK(lines.find("aten::add [elementwise] sum 5\n") != std::string::npos);
  CHECK(lines.find("aten::sub [elementwise] difference 7\n") != std::string::npos);
  // Another op below it is a part.
  TraceText part;
  part.Op("aten::add", 0, 200, kAdd);
  part.OpWithKernel("aten::isnan", 30, 20, "asks", 310, 7, 2, kAdd);
  CHECK(Lines(part).find("aten::add [elementwise] asks 7\n") != std::string::npos);
}

TEST_CASE("above a modelled op nobody owns anything; beside it each launcher owns its own") {
  TraceText text;
  text.Op("wrapper", 0, 100);
  text.Runtime("launch", 1, 2, 1).Kernel("own", 200, 5, 1);
  text.OpWithKernel("aten::mm", 10, 20, "gemm", 210, 30, 2, kMm);
  text.OpWithKernel("custom", 50, 20, "strange", 250, 7, 3);
  CHECK(Lines(text) ==
        "wrapper [other] own 5\naten::mm [GEMM] gemm 30\ncustom [other] strange 7\n");
}

TEST_CASE("unlinked work and collectives are each in one row") {
  TraceText text;
  text.OpWithKernel("c10d::allreduce_", 0, 10, "ncclDevKernel_AllReduce", 100, 50, 1);
  text.Runtime("cudaLaunchKernel", 20, 3, 2).Kernel("bare", 200, 4, 2);
  text.Kernel("lost", 300, 2, 99).Kernel("lost", 310, 3, 98).Memcpy("Memcpy DtoH", 400, 1, 97);
  const std::string lines = Lines(text);
  CHECK(lines.find("c10d::allreduce_ [") == 0);
  for (const char* kernel : {"ncclDevKernel_AllReduce 50\n", " bare 4\n", " lost 2\n", " lost 3\n",
                             " Memcpy DtoH 1\n"}) {
    CAPTURE(kernel);
    const std::size_t at = lines.find(kernel);
    CHECK(at != std::string::npos);
    CHECK(lines.find(kernel, at + 1) == std::string::npos);
  }
  CHECK(lines.find("(unlinked) lost [unlinked]") != std::string::npos);
}

// A convolution on one thread; on another its autograd node with what `below` adds to it.
template <typename Below>
TraceText Backward(Below below) {
  TraceText text;
  text.OpWithKernel("aten::convolution", 0, 10, "conv", 50, 5, 1, kConv);
  text.Thread(100, 200).Op("autograd::engine::evaluate_function: ConvolutionBackward0", 100, 80,
                           R"("Sequence number":5)");
  below(text);
  return text;
}

TEST_CASE("a backward op has the work of its forward op's backward pass") {
  MadeCalls made(Backward([](TraceText& text) {
    text.Op("ConvolutionBackward0", 105, 60, R"("Sequence number":5)");
    text.OpWithKernel("custom::dgrad", 110, 10, "dgrad", 200, 6, 2);
    text.OpWithKernel("custom::wgrad", 130, 10, "wgrad", 210, 7, 3);
  }));
  CHECK(made.Lines() ==
        "aten::convolution [CONV_fwd] conv 5\n"
        "ConvolutionBackward0 [CONV_bwd] dgrad wgrad 13 <- aten::convolution\n");
  // 2 * 27 * 144 products for each of two gradients.
  REQUIRE(made.calls.size() == 2);
  CHECK(made.calls[0].work->flops == 2.0 * 27 * 4 * 36);
  CHECK(made.calls[1].work->flops == 2 * 2.0 * 27 * 4 * 36);
}

TEST_CASE("two ops of one name below a node: neither has the work of all") {
  CHECK(Lines(Backward([](TraceText& text) {
          text.OpWithKernel("ConvolutionBackward0", 105, 20, "one", 200, 6, 2);
          text.OpWithKernel("ConvolutionBackward0", 130, 20, "two", 210, 7, 3);
        })) ==
        "aten::convolution [CONV_fwd] conv 5\n"
        "ConvolutionBackward0 [other] one 6\n"
        "ConvolutionBackward0 [other] two 7\n");
}

TEST_CASE("a modelled op below a backward op comes first") {
  CHECK(Lines(Backward([](TraceText& text) {
          text.Op("ConvolutionBackward0", 105, 60, R"("Sequence number":5)");
          text.OpWithKernel("aten::mm", 110, 10, "gemm", 200, 6, 2, kMm);
          text.OpWithKernel("custom::wgrad", 130, 10, "wgrad", 210, 7, 3);
        })) ==
        "aten::convolution [CONV_fwd] conv 5\n"
        "aten::mm [GEMM] gemm 6\n"
        "custom::wgrad [other] wgrad 7\n");
}

TEST_CASE("a model that declines or fails keeps its row, with the reason") {
  TraceText text;
  text.OpWithKernel("aten::nonzero", 0, 10, "scan", 100, 5, 1,
                    R"("Input Dims":[[8]],"Input type":["float"])");
  text.OpWithKernel("aten::mm", 20, 10, "gemm", 110, 6, 2, R"("Input Dims":[[8,4],[5,16]])");
  text.OpWithKernel("aten::mm", 40, 10, "gemm", 120, 7, 3);
  CHECK(Lines(text) ==
        "aten::nonzero [index] scan 5 ! the size of the result depends on the data and is not "
        "recorded\n"
        "aten::mm [GEMM] gemm 6 ! shapes that do not multiply\n"
        "aten::mm [GEMM] gemm 7 ! its shapes were not recorded (record_shapes)\n");
}

TEST_CASE("kernels of two streams: busy time counts once") {
  TraceText text;
  text.Op("aten::mm", 0, 20, kMm);
  text.Runtime("launch", 1, 2, 1).Kernel("split", 100, 30, 1);
  text.Runtime("launch", 5, 2, 2).Kernel("reduce", 120, 30, 2, 8);
  CHECK(Lines(text) == "aten::mm [GEMM] split reduce 50\n");
}

TEST_CASE("equal calls are evaluated once, other kernels only where a model looks at them") {
  TraceText text;
  for (int i = 0; i < 10; ++i) {
    text.OpWithKernel("aten::add", 100 * i, 50, fmt::format("k{}", i), 100 * i + 60, 5, i + 1,
                      R"("Input Dims":[[8],[8]],"Input type":["float","float"])");
  }
  MadeCalls made(text);
  CHECK(made.calls.size() == 10);
  const std::size_t evaluations = made.works.evaluations();
  CHECK((evaluations == 1 || evaluations == 10));
  CHECK(made.works.NeedsOf(*made.calls[0].model).kernels == (evaluations == 10));
}

TEST_CASE("many calls, evaluated several at a time, have the work that each has alone") {
  TraceText text;
  constexpr int kCalls = 1000;
  for (int i = 0; i < kCalls; ++i) {
    text.OpWithKernel(
        "aten::mm", 100 * i, 50, "k", 100 * i + 60, 5, i + 1,
        fmt::format(R"("Input Dims":[[8,{0}],[{0},16]],"Input type":["float","float"],)"
                    R"("Input Strides":[[{0},1],[16,1]])",
                    i + 1));
  }
  const testing::Loaded loaded = testing::Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  OpWorks together(loaded.events(), perf::BuiltinRows());
  const auto calls = CollectWorkCalls({loaded.events(), loaded.tree, attribution, together});
  REQUIRE(calls.size() == kCalls);
  CHECK(together.evaluations() == kCalls);
  OpWorks alone(loaded.events(), perf::BuiltinRows());
  for (const WorkCall& call : calls) {
    REQUIRE(call.work != nullptr);
    const perf::OpWork& work = alone.WorkOf(*call.model, call.op, {.kernels = call.kernels});
    CHECK(work.flops == call.work->flops);
    CHECK(work.bytes == call.work->bytes);
    CHECK(work.parameters.size() == call.work->parameters.size());
  }
}

TEST_CASE("once its job is stopped no call is evaluated any more") {
  TraceText text;
  for (int i = 0; i < 600; ++i) {
    text.OpWithKernel(
        "aten::mm", 100 * i, 50, "k", 100 * i + 60, 5, i + 1,
        fmt::format(R"("Input Dims":[[8,{0}],[{0},16]],"Input type":["float","float"],)"
                    R"("Input Strides":[[{0},1],[16,1]])",
                    i + 1));
  }
  const testing::Loaded loaded = testing::Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  for (const bool stopped : {false, true}) {
    Job job;
    if (stopped) job.Stop();
    OpWorks works(loaded.events(), perf::BuiltinRows(), &job);
    int known = 0;
    for (const WorkCall& call :
         CollectWorkCalls({loaded.events(), loaded.tree, attribution, works}))
      known += call.work != nullptr && call.work->flops ? 1 : 0;
    CHECK(known == (stopped ? 0 : 600));
  }
}

TEST_CASE("metrics") {
  perf::OpWork work;
  work.flops = 2e9;
  work.bytes = 4e6;
  work.spec = "matrix_bf16";
  const Metrics metrics = MetricsOf(&work, 10, {});
  CHECK(metrics.gflops == 2.0);
  CHECK(*metrics.tflops_per_s == doctest::Approx(200));
  CHECK(*metrics.tb_per_s == doctest::Approx(0.4));
  CHECK(*metrics.flops_per_byte == doctest::Approx(500));
  CHECK_FALSE(metrics.roof_us);

  perf::Platform platform;
  platform.mem_bw_gbps = 1000;
  platform.peak_tflops["matrix_bf16"] = {400, perf::Source::kPeak};
  const Metrics roofed = MetricsOf(&work, 10, {&platform, perf::RoofRule::kAchievable});
  CHECK(*roofed.roof_us == doctest::Approx(5));
  CHECK(*roofed.pct_roof == doctest::Approx(50));
  CHECK(roofed.bound == perf::Bound::kCompute);

  SUBCASE("without time there is no rate, and no part of the roof") {
    const Metrics idle = MetricsOf(&work, 0, {&platform, perf::RoofRule::kAchievable});
    CHECK(idle.gflops == 2.0);
    CHECK_FALSE(idle.tflops_per_s);
    CHECK_FALSE(idle.tb_per_s);
    CHECK(*idle.roof_us == doctest::Approx(5));
    CHECK_FALSE(idle.pct_roof);
  }
  SUBCASE("unknown bytes are unknown") {
    work.bytes.reset();
    const Metrics unknown = MetricsOf(&work, 10, {&platform, perf::RoofRule::kAchievable});
    CHECK(unknown.tflops_per_s);
    CHECK_FALSE(unknown.bytes);
    CHECK_FALSE(unknown.tb_per_s);
    CHECK_FALSE(unknown.flops_per_byte);
    CHECK_FALSE(unknown.roof_us);
  }
  SUBCASE("a failure and no work at all have no metrics") {
    work.failure = perf::OpWork::Failure::kFailed;
    CHECK_FALSE(MetricsOf(&work, 10, {}).gflops);
    CHECK_FALSE(MetricsOf(nullptr, 10, {}).gflops);
  }
}

}  // namespace
}  // namespace jarvis::analysis
