#include "analysis/tables/summary.h"

#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

// Two steps of a model of two layers; the backward pass on a thread of its own; one copy and one
// kernel that nothing launched.
TraceText Training() {
  TraceText t;
  double at = 0;
  int id = 0;
  for (int step = 0; step < 2; ++step, at += 1000) {
    const std::string sequence = R"("Sequence number":)" + std::to_string(step + 5);
    t.Thread(1, 1).Annotation("ProfilerStep#" + std::to_string(step + 3), at, 900);
    t.Python("train.py(9): step", at + 1, 800)
        .Module("Net_0", at + 2, 300)
        .Module("Linear_" + std::to_string(step), at + 3, 100);
    t.OpWithKernel("aten::mm", at + 10, 20, "gemm", at + 300, 40, ++id, sequence);
    t.OpWithKernel("aten::relu", at + 150, 20, "void at::native::elementwise_kernel<int>()",
                   at + 345, 10, ++id);
    t.Thread(1, 2).Op("autograd::engine::evaluate_function: MmBackward0", at + 400, 100, sequence);
    t.OpWithKernel("aten::mm", at + 410, 20, "gemm_t", at + 500, 30, ++id);
  }
  t.Thread(1, 1)
      .Op("aten::copy_", 1950, 20)
      .Runtime("cudaMemcpyAsync", 1955, 3, 50)
      .Memcpy("Memcpy HtoD", 1970, 5, 50, 9);
  return t.Kernel("lost", 1450, 7, 99);
}

struct MadeSummary {
  explicit MadeSummary(const TraceText& text) : loaded(Load(text)) {}
  Loaded loaded;
  Attribution attribution = Attribute(loaded.events(), loaded.tree);
  std::vector<Step> steps = FindSteps(loaded.events(), loaded.tree);
  SummaryInput input{loaded.events(), loaded.tree, loaded.trace.track_names, attribution, steps};
};

// "id name time count" a row.
std::string Rows(const Summary& summary) {
  std::string text;
  double total = 0;
  for (const SummaryRow& row : summary.rows) {
    text += row.id + " " + row.name + " " + std::to_string(static_cast<int>(row.gpu_us)) + " " +
            std::to_string(row.count) + "\n";
    total += row.gpu_us;
  }
  CHECK(summary.gpu_us == doctest::Approx(total));
  return text;
}

TEST_CASE("each grouping of one trace") {
  const MadeSummary made(Training());
  SUBCASE("op") {
    CHECK(
        Rows(Summarize(made.input, GroupBy::kOp)) ==
        "op1 aten::mm 140 4\nop2 aten::relu 20 2\nop3 (unlinked) lost 7 1\nop4 aten::copy_ 5 1\n");
  }
  SUBCASE("category") {
    CHECK(Rows(Summarize(made.input, GroupBy::kCategory)) ==
          "cat1 GEMM 140 4\ncat2 elementwise 25 3\ncat3 unlinked 7 1\n");
  }
  SUBCASE("kernel") {
    CHECK(Rows(Summarize(made.input, GroupBy::kKernel)) ==
          "k1 gemm 80 2\nk2 gemm_t 60 2\nk3 void at::native::elementwise_kernel<int>() 20 2\n"
          "k4 lost 7 1\nk5 Memcpy HtoD 5 1\n");
  }
  SUBCASE("module: instances folded, backward work where its forward op stands") {
    CHECK(Rows(Summarize(made.input, GroupBy::kModule)) ==
          "m1 Net / Linear 80 2\nm2 Net / Linear (backward) 60 2\nm3 Net 20 2\nm4 (unlinked) 7 1\n"
          "m5 (no module) 5 1\n");
  }
  SUBCASE("stream") {
    const std::string rows = Rows(Summarize(made.input, GroupBy::kStream));
    CHECK(rows == "s1 device 0 stream 7 167 7\ns2 device 0 stream 9 5 1\n");
  }
  SUBCASE("step: by launch, or by start where there is none") {
    CHECK(Rows(Summarize(made.input, GroupBy::kStep)) ==
          "step1 outside of steps 5 1\nstep2 step 3 80 3\nstep3 step 4 87 4\n");
  }
}

TEST_CASE("whatever the grouping, no GPU time is lost") {
  const MadeSummary made(Training());
  for (const GroupBy by : {GroupBy::kOp, GroupBy::kCategory, GroupBy::kKernel, GroupBy::kModule,
                           GroupBy::kStream, GroupBy::kStep}) {
    const Summary summary = Summarize(made.input, by);
    CHECK(summary.gpu_us == doctest::Approx(172));
    std::size_t events = 0;
    for (const SummaryRow& row : summary.rows)
      events += row.gpu.size();
    CHECK(events == 8);
  }
}

TEST_CASE("the shape of an op is that of its costliest calls") {
  TraceText t;
  t.OpWithKernel("aten::mm", 0, 10, "k", 100, 30, 1, R"("Input Dims":[[8,4]])");
  t.OpWithKernel("aten::mm", 20, 10, "k", 200, 20, 2, R"("Input Dims":[[9,4]])");
  t.OpWithKernel("aten::mm", 40, 10, "k", 300, 20, 3, R"("Input Dims":[[9,4]])");
  CHECK(Summarize(MadeSummary(t).input, GroupBy::kOp).rows[0].shape == "((9, 4),)");
}

TEST_CASE("equal times are ordered by name") {
  TraceText t;
  t.OpWithKernel("b", 0, 10, "k", 100, 30, 1).OpWithKernel("a", 20, 10, "l", 200, 30, 2);
  CHECK(Rows(Summarize(MadeSummary(t).input, GroupBy::kOp)) == "op1 a 30 1\nop2 b 30 1\n");
}

TEST_CASE("steps") {
  TraceText t;
  t.Annotation("ProfilerStep#12", 100, 50)
      .Annotation("ProfilerStep#11", 0, 50)
      .Annotation("ProfilerStep#x", 200, 5);
  t.Annotation("ProfilerStepper", 0, 5).Op("ProfilerStep#13", 300, 5);
  t.Annotation("ProfilerStep#14", 400, 50);  // nothing is launched in it
  t.Runtime("in", 10, 2, 1).Kernel("launched_in_11", 120, 5, 1);
  t.Runtime("none", 110, 2, 6);
  t.Kernel("started_in_12", 130, 5, 2).Kernel("at_the_end", 150, 5, 3).Kernel("before", -10, 5, 4);
  const MadeSummary made(t);
  REQUIRE(made.steps.size() == 2);
  CHECK(made.steps[0].number == 11);
  CHECK(made.steps[1].number == 12);
  const auto step = [&](std::string_view name) {
    return StepOf(made.loaded.events(), made.loaded.tree, made.steps, made.loaded.Find(name));
  };
  CHECK(step("launched_in_11") == 11);
  CHECK(step("started_in_12") == 12);
  CHECK(step("at_the_end") == -1);
  CHECK(step("before") == -1);
}

TEST_CASE("short kernel names") {
  const auto check = [](std::string_view name, std::string_view shortened) {
    CAPTURE(name);
    CHECK(ShortKernelName(name) == shortened);
  };
  check("gemm", "gemm");
  check("", "");
  check("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)");
  check("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  check(
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
      "at::detail::Array<char*, 3> >(int, float)",
      "vectorized_elementwise_kernel<CUDAFunctor_add, fp32>");
  check("void (anonymous namespace)::softmax_warp_forward<float, 8>(float*)",
        "softmax_warp_forward<fp32>");
  check("void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1>(Params)",
        "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1");
  check("void cutlass::device_kernel<enable_3x_kernel_for_sm9x<my::Gemm<int, 4>, 2> >(Params)",
        "Gemm");
  check("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64EEEvPT_", "add_rmsnorm_quant_kernel");
  check("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_1EEEJEEEvDpT1_", "Rmsnorm2dFwd");
  check("_ZN999zz", "_ZN999zz");
  check(
      "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize160x128x32_stage4_warpsize2x2x1_"
      "tensor16x8x16",
      "sm80_xmma_gemm_bf16bf16_bf16f32_f32...arpsize2x2x1_tensor16x8x16");
  check(
      "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, "
      "c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> > >(int)",
      "vectorized_elementwise_kernel<MulFunctor, bf16>");
  check(
      "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<c10::Half, "
      "c10::Half, c10::Half, at::native::binary_internal::MulFunctor<float> > >(int)",
      "vectorized_elementwise_kernel<AUnary MulFunctor, fp16>");
  check("void layer_norm_bf16<c10::BFloat16, float>(int)", "layer_norm_bf16");
  check("Cijk_Ailk_Bljk_HHS_BH_Bias_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_GSU4_K1",
        "Cijk_Ailk_Bljk_HHS_MT128x96x64_MI16x16x1_GSU4");
  // Whatever comes, the name is short and not empty.
  for (const std::string& odd :
       {std::string("<<<"), std::string(">>>"), std::string("void "), std::string("()"),
        std::string("void <x>"), std::string(500, 'x'), std::string("a::"), std::string("::")}) {
    CAPTURE(odd);
    CHECK(ShortKernelName(odd).size() <= 64);
    CHECK_FALSE(ShortKernelName(odd).empty());
  }
}

}  // namespace
}  // namespace jarvis::analysis
