// Recordings of GPU work without ops: kernels are told by their names.
#include "findings/one/kernel_findings.h"

#include <algorithm>

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace jarvis::findings
