// A mixture of experts that decodes, held against the reading of its weights.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::TraceText;

// 32 rows to 4 of 32 experts each, 2048 wide: 38 tiles of rows for the 128 rows of all experts; 16
// tiles across for the second product, `up` for the first.
Efficiency RateOf(int up, int down, const char* types = "bf16xbf16xmxfp4", int experts = 32) {
  TraceText text;
  double at = 0;
  std::int64_t link = 1;
  for (int layer = 0; layer < 8; ++layer) {
    text.Op("vllm::moe_forward", at, 40,
            testing::Shapes(fmt::format("[[32,2048],[32,{}]]", experts), "c10::BFloat16", 2));
    const auto launch = [&](const std::string& kernel, int blocks, double from, double us) {
      text.Runtime("cudaLaunchKernel", at + from / 100 + 1, 1, link)
          .Kernel(kernel, at + 50 + from, us, link, 7, fmt::format("\"grid\":[{},1,1]", blocks));
      ++link;
    };
    const std::string name = fmt::format("_matmul_ogs_NNT_{}_16x128x256x1", types);
    launch(name + "_swiglu", up, 0, 100);
    launch(name, down, 110, 100);
    at += 400;
  }
  const auto analyzed = Analyze(text);
  return analyzed.First("moe_fused").efficiency;
}

TEST_CASE("the weights of the experts that rows go to are what has to be read") {
  // 31.5 of 32 experts are read: 2048 x (38 x 12 tiles of 128 columns = 1536 columns of gate and
  // up, 768 of which the second product takes) x 17/32 bytes.
  const Efficiency rate = RateOf(38 * 12, 38 * 16);
  REQUIRE(rate.bytes.has_value());
  CHECK(*rate.bytes == doctest::Approx(31.45 * 2048 * 1536 * 1.5 * 17 / 32).epsilon(0.002));
  REQUIRE(rate.percent.has_value());
  CHECK(rate.bound == Bound::kMemory);
  CHECK(*rate.tb_per_s == doctest::Approx(*rate.bytes / 200 / 1e6));
  CHECK(rate.assumption == "uniform_routing");
  const Efficiency wide = RateOf(38 * 12, 38 * 16, "bf16xbf16xbf16");
  CHECK(*wide.bytes / *rate.bytes == doctest::Approx(2 / (17.0 / 32)));
}

// 888 rows to 4 of 128 experts each, 3072 wide: 342 tiles of rows; 24 tiles across for the second
// product, 8 for the first.
Efficiency RateOfTensorRt(const char* weights, const char* result = "transOut") {
  TraceText text;
  double at = 0;
  std::int64_t link = 1;
  for (int layer = 0; layer < 8; ++layer) {
    text.Op("vllm::moe_forward", at, 40,
            testing::Shapes("[[888,3072],[888,128]]", "c10::BFloat16", 2));
    for (const bool gated : {true, false}) {
      text.Runtime("cudaLaunchKernel", at + (gated ? 1 : 5), 1, link)
          .Kernel(
              fmt::format("bmm_Bfloat16_{}MxE4m3_Fp32_t128x16x256u2_s3_{}_tma_{}dynBatch_sm100f",
                          weights, result, gated ? "swiGlu_" : ""),
              at + (gated ? 50 : 150), gated ? 90 : 60, link, 7,
              fmt::format("\"grid\":[{},342,1]", gated ? 8 : 24));
      ++link;
    }
    at += 400;
  }
  return Analyze(text, "B200").First("moe_fused").efficiency;
}

TEST_CASE("kernels of TensorRT-LLM tell their weights where results are transposed") {
  const Efficiency rate = RateOfTensorRt("MxE2m1");
  REQUIRE(rate.bytes.has_value());
  CHECK(*rate.bytes == doctest::Approx(128 * 3072.0 * 1024 * 1.5 * 17 / 32).epsilon(0.002));
  CHECK(*rate.tb_per_s == doctest::Approx(*rate.bytes / 150 / 1e6));
  CHECK_FALSE(RateOfTensorRt("MxE2m1", "cga1x1x1").bytes.has_value());
  CHECK_FALSE(RateOfTensorRt("Int4").bytes.has_value());
}

TEST_CASE("where grids and sizes do not fit, or rows are many, nothing is said of experts") {
  CHECK_FALSE(RateOf(38 * 12 + 1, 38 * 16).bytes.has_value());
  CHECK_FALSE(RateOf(38 * 12, 38 * 16 + 1).bytes.has_value());
  CHECK_FALSE(RateOf(38 * 12, 38 * 16, "bf16xbf16xint3").bytes.has_value());
  // 70 tiles of 16 rows for 32 experts: 20 rows of each, at which products of this device's format
  // need half as long for their FLOPs.
  CHECK_FALSE(RateOf(70 * 12, 70 * 16).bytes.has_value());
  CHECK(RateOf(70 * 12, 70 * 16, "bf16xbf16xbf16").bytes.has_value());
  CHECK_FALSE(RateOf(38 * 12, 38 * 16, "bf16xbf16xmxfp4", 1).bytes.has_value());
}

}  // namespace
}  // namespace jarvis::findings
