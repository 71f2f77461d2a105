// Recordings of GPU work without ops: kernels are told by their names.
#include "findings/one/kernel_findings.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/kernel_categories.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

// 20 launches of a convolution, its transposes and a batch norm each; with ops around them or none.
TraceText Convolutions(bool ops, std::string_view transpose = "batched_transpose_16x64_half") {
  TraceText text;
  int correlation = 0;
  const auto launch = [&](std::string_view kernel, double at, double us) {
    if (ops) text.Op("aten::work", at - 1, 6);
    text.Runtime("hipLaunchKernel", at, 4, ++correlation);
    text.Kernel(kernel, at + 10, us, correlation, 7, R"("grid":[64,1,1])");
  };
  for (int i = 0; i < 20; ++i) {
    const double at = 400.0 * i;
    launch(transpose, at + 10, 60);
    launch("igemm_fwd_gtcx2_nhwc_bf16", at + 100, 100);
    launch("void at::native::batch_norm_collect_statistics_kernel<float>(int)", at + 250, 90);
  }
  return text;
}

bool HasRule(const Analyzed& one, Pattern rule) {
  return std::any_of(one.analysis.findings.begin(), one.analysis.findings.end(),
                     [&](const Finding& finding) { return finding.rule == rule; });
}

TEST_CASE("without ops kernels have a category, and rules go by their names") {
  const Analyzed one = Analyze(Convolutions(false));
  CHECK(HasRule(one, Pattern::kLayoutKernels));
  CHECK(HasRule(one, Pattern::kPlanarBatchNorm));
  CHECK(one.analysis.FindCategory("conv_forward") != nullptr);
  CHECK(one.analysis.FindCategory("batch_norm_forward") != nullptr);
  CHECK(one.analysis.FindCategory("layout_transposes") != nullptr);
  CHECK(one.analysis.FindCategory("other") == nullptr);
  CHECK(one.analysis.workload[WorkloadPart::kComponents].value ==
        "20 convolutions, 20 batch norms");
  for (const Finding& finding : one.analysis.findings)
    CHECK(finding.subject.find("LaunchKernel") == std::string::npos);
}

TEST_CASE("with ops, or of other transposes, the names alone are no finding") {
  const Analyzed ops = Analyze(Convolutions(true));
  CHECK_FALSE(HasRule(ops, Pattern::kLayoutKernels));
  CHECK_FALSE(HasRule(ops, Pattern::kPlanarBatchNorm));
  CHECK_FALSE(HasRule(Analyze(Convolutions(false, "transpose_rows")), Pattern::kLayoutKernels));
}

TEST_CASE("a kernel's name tells the direction, or there is none") {
  CHECK(CategoryByName("igemm_wrw_gtcx2_nhwc_bf16") == kConvBackwardWeights);
  CHECK(CategoryByName("igemm_bwd_gtcx2_nhwc_bf16") == kConvBackwardData);
  CHECK(CategoryByName("sm80_xmma_fprop_implicit_gemm_bf16") == kConvForward);
  CHECK(CategoryByName("implicit_convolve_sgemm") == "convolution");
  CHECK(CategoryByName("void at::native::batch_norm_backward_kernel<float>()") ==
        kBatchNormBackward);
  CHECK(CategoryByName("SubTensorOpWithCastTensor1d") == "fills and casts");
  CHECK(CategoryByName("my_kernel").empty());
  CHECK(WithoutDirection("CONV_fwd") == "convolution");
}

// Kernels of a forward pass, one behind the other.
class Pass {
 public:
  Pass& Add(std::string_view kernel, std::string_view grid, int threads = 256) {
    text_.Runtime("hipLaunchKernel", at_ - 8, 3, ++correlation_);
    text_.Kernel(kernel, at_, 20, correlation_, 7,
                 fmt::format(R"("grid":{},"block":[{},1,1])", grid, threads));
    at_ += 21;
    return *this;
  }
  Pass& Convolution() { return Add("igemm_fwd_gtcx2_nhwc_bf16", "[64,1,1]"); }
  // With its batch norm and what comes behind it.
  Pass& Layer(int channels, int batch, int side, bool sum, int wrong_blocks = 0) {
    Convolution();
    Add("void at::native::batch_norm_collect_statistics_kernel<float>(int)",
        fmt::format("[{},1,1]", channels));
    Add("void at::native::batch_norm_transform_input_kernel<float>(int)",
        fmt::format("[{},{},1]", channels, batch));
    const int blocks = (channels * batch * side * side + 2047) / 2048 + wrong_blocks;
    if (sum) Add(kSum, fmt::format("[{},1,1]", blocks));
    return Add(kRelu, fmt::format("[{},1,1]", blocks));
  }
  const TraceText& text() const { return text_; }

 private:
  static constexpr std::string_view kSum =
      "void at::native::vectorized_elementwise_kernel<8, "
      "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)";
  static constexpr std::string_view kRelu =
      "void at::native::vectorized_elementwise_kernel<8, at::native::launch_clamp_scalar<int>, "
      "std::array<char*, 2ul> >(int)";
  TraceText text_;
  double at_ = 20;
  int correlation_ = 0;
};

// Four stages of two blocks of two convolutions, and a convolution more where a stage begins.
Pass ResNet18(int sums_left_out = 0, int wrong_blocks = 0) {
  Pass pass;
  pass.Layer(64, 5, 112, false).Add("void max_pool_forward_nchw<float>(int)", "[3920,1,1]");
  int channels = 64, side = 56, sums = 0;
  for (int stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < 2; ++block) {
      pass.Layer(channels, 5, side, false, stage == 2 ? wrong_blocks : 0);
      if (stage > 0 && block == 0) pass.Layer(channels, 5, side, false);
      pass.Layer(channels, 5, side, sums++ >= sums_left_out);
    }
    channels *= 2;
    side /= 2;
  }
  pass.Add("Cijk_Alik_Bljk_BBS_BH_MT32x32x64", "[1024,1,1]");
  return pass;
}

TEST_CASE("a residual network is told by its convolutions and its sums, which prove each other") {
  const Analyzed one = Analyze(ResNet18().text(), "MI210");
  const Workload& workload = one.analysis.workload;
  CHECK(workload[WorkloadPart::kModel].value == "ResNet-18-like network");
  CHECK(workload[WorkloadPart::kModel].certainty == Certainty::kInferred);
  CHECK(workload[WorkloadPart::kBatch].value == "batch 5");
  CHECK(workload[WorkloadPart::kInput].value == "224 x 224 pixels");
  // As many convolutions, and a sum less than its blocks.
  const Analyzed other = Analyze(ResNet18(1).text(), "MI210");
  CHECK_FALSE(other.analysis.workload[WorkloadPart::kModel].known());
}

TEST_CASE("sizes whose derivations disagree are not told") {
  const Analyzed one = Analyze(ResNet18(0, 3).text(), "MI210");
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kBatch].known());
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kInput].known());
  CHECK(one.analysis.workload[WorkloadPart::kModel].known());
  // Not one size of a layer more than another's.
  Pass flat;
  for (int i = 0; i < 6; ++i)
    flat.Layer(64, 5, 56, false);
  CHECK_FALSE(Analyze(flat.text(), "MI210").analysis.workload[WorkloadPart::kBatch].known());
}

TEST_CASE("a network without sums is told by its pooling and linear layers") {
  const auto model = [](int convolutions) {
    Pass pass;
    for (int i = 0; i < convolutions; ++i)
      pass.Convolution();
    for (int i = 0; i < 5; ++i)
      pass.Add("void max_pool_forward_nchw<float>(int)", "[3920,1,1]");
    for (int i = 0; i < 3; ++i)
      pass.Add("Cijk_Alik_Bljk_BBS_BH_MT32x32x64", "[1024,1,1]");
    return Analyze(pass.text(), "MI210").analysis.workload[WorkloadPart::kModel].value;
  };
  CHECK(model(13) == "VGG-16-like network");
  CHECK(model(12).empty());
}

}  // namespace
}  // namespace jarvis::findings
