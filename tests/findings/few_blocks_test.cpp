// Kernels that leave most of the device idle, and those that only look so; lines that nobody
// shortens.
#include "findings/one/few_blocks.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/uncovered_lines.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

constexpr const char* kUnits = R"("deviceProperties":[{"id":0,"name":"H100","numSms":132}])";

// 40 calls of an op with a kernel of `blocks` blocks and `us` microseconds, beside one that fills
// the device.
TraceText CallsOf(std::string_view op, std::string_view kernel, int blocks, double us) {
  TraceText text;
  double at = 10;
  for (int i = 0; i < 40; ++i) {
    text.Op(op, at, 8).Runtime("cudaLaunchKernel", at + 1, 4, 2 * i + 1);
    text.Kernel(kernel, at + 20, us, 2 * i + 1, 7, fmt::format(R"("grid":[{},1,1])", blocks));
    text.Op("my::full", at + 10, 8).Runtime("cudaLaunchKernel", at + 11, 4, 2 * i + 2);
    text.Kernel("full_kernel", at + 20 + us, 100, 2 * i + 2, 7, R"("grid":[4096,1,1])");
    at += us + 102;
  }
  return text.Annotation("ProfilerStep#1", 0, at);
}

const Finding* FewBlocks(const Analyzed& one) {
  return one.FindRule(Pattern::kFewBlocks);
}

TEST_CASE("a kernel on a few of the compute units is a finding, at most as fast as all of them") {
  const Analyzed one = Analyze(CallsOf("my::scan", "my_kernel", 18, 97), "H100", kUnits);
  const Finding* finding = FewBlocks(one);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "my::scan");
  REQUIRE(finding->change_a.has_value());
  const double all_ms = 40 * 0.097;
  CHECK(finding->change_a->savings_ms.low == 0);
  CHECK(finding->change_a->savings_ms.high ==
        doctest::Approx(all_ms * (1 - 18.0 / 132)).epsilon(0.03));
}

const Finding* OfLibrary(const Analyzed& one) {
  return one.FindRule(Pattern::kFewBlocksLibrary);
}

TEST_CASE("a library chooses its grids: its users give it other work or compile") {
  constexpr std::string_view kReduce =
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
      "at::native::func_wrapper_t<float, at::native::sum_functor<float>>>>(float)";
  const Analyzed one = Analyze(CallsOf("my::sum", kReduce, 18, 97), "H100", kUnits);
  CHECK(FewBlocks(one) == nullptr);
  const Finding* finding = OfLibrary(one);
  REQUIRE(finding != nullptr);
  CHECK(finding->bound == Bound::kFewBlocks);
  CHECK(finding->change_a.has_value());
  CHECK(finding->change_b.has_value());
  CHECK(OfLibrary(Analyze(CallsOf("my::scan", "my_kernel", 18, 97), "H100", kUnits)) == nullptr);
  CHECK(OfLibrary(Analyze(CallsOf("my::sum", kReduce, 67, 97), "H100", kUnits)) == nullptr);
}

const Fact* BlocksFact(const Finding& finding, std::string_view key) {
  for (const PatternHit& hit : finding.patterns) {
    for (const Fact& fact : hit.facts) {
      if (fact.key == key) return &fact;
    }
  }
  return nullptr;
}

// 40 small products of one library beside others of `other`, of the time of `us` each.
Analyzed TwoLibraries(std::string_view other, double us) {
  TraceText text;
  double at = 10;
  for (int i = 0; i < 40; ++i) {
    text.Op("tex_ts::te_gemm_ts", at, 8).Runtime("cudaLaunchKernel", at + 1, 4, 2 * i + 1);
    text.Kernel("_block_scaled_block_gemm", at + 20, 97, 2 * i + 1, 7, R"("grid":[18,1,1])");
    text.Op("aten::_scaled_mm", at + 10, 8).Runtime("cudaLaunchKernel", at + 11, 4, 2 * i + 2);
    text.Kernel(other, at + 118, us, 2 * i + 2, 7, R"("grid":[132,1,1])");
    at += us + 120;
  }
  return Analyze(text.Annotation("ProfilerStep#1", 0, at), "H100", kUnits);
}

TEST_CASE("the library of the other products of a precision is a way out, and no other") {
  constexpr std::string_view kFp8 = "deep_gemm::fp8_gemm_kernel<4096u, 7168u>";
  const Analyzed one = TwoLibraries(kFp8, 200);
  const Finding* finding = FewBlocks(one);
  REQUIRE(finding != nullptr);
  REQUIRE(BlocksFact(*finding, "others") != nullptr);
  CHECK(std::get<std::string>(BlocksFact(*finding, "others")->value) == "DeepGEMM");
  CHECK(BlocksFact(*finding, "split") == nullptr);
  // A library with less to do may be the exception itself, and one of another precision is none.
  for (const Analyzed& near :
       {TwoLibraries(kFp8, 40), TwoLibraries("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT", 200)}) {
    finding = FewBlocks(near);
    REQUIRE(finding != nullptr);
    CHECK(BlocksFact(*finding, "others") == nullptr);
    CHECK(BlocksFact(*finding, "split") != nullptr);
  }
}

// The first finding where one rank's exchange is uneven beside a product of few blocks.
const Finding* FirstBeside(double product_us, Analyzed* one) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 40; ++i) {
    const double us = i == 7 ? 90.5 : 500.5 + 20 * i;
    text.OpWithKernel("exchange", at, 10, "deep_ep::internode_ll::combine<true>", at + 20, us,
                      i + 1);
    text.Op("sglang::scaled_mm", at + 11, 5).Runtime("cudaLaunchKernel", at + 12, 3, 100 + i);
    text.Kernel("_block_scaled_block_gemm", at + 25 + us, product_us, 100 + i, 7,
                R"("grid":[18,1,1])");
    at += us + product_us + 60;
  }
  *one = Analyze(text, "H100", kUnits);
  return one->analysis.findings.empty() ? nullptr : &one->analysis.findings.front();
}

TEST_CASE(
    "what may all be waiting stands behind a saving of half its size, and before a small one") {
  Analyzed one;
  const Finding* first = FirstBeside(400, &one);
  REQUIRE(first != nullptr);
  CHECK(first->rule == Pattern::kFewBlocks);
  first = FirstBeside(60, &one);
  REQUIRE(first != nullptr);
  CHECK(first->subject == "communication");
}

TEST_CASE("what part of the kernel time is in grids that leave compute units without a block") {
  const Analyzed few = Analyze(CallsOf("my::scan", "my_kernel", 18, 97), "H100", kUnits);
  REQUIRE(few.analysis.few_blocks_percent.has_value());
  CHECK(*few.analysis.few_blocks_percent == doctest::Approx(100 * 97.0 / 197).epsilon(0.01));
  // As many blocks as units are a persistent kernel's.
  const Analyzed one_each = Analyze(CallsOf("my::scan", "my_kernel", 132, 97), "H100", kUnits);
  CHECK(one_each.analysis.few_blocks_percent.value_or(-1) == 0);
  CHECK_FALSE(Analyze(CallsOf("my::scan", "my_kernel", 18, 97)).analysis.few_blocks_percent);
}

TEST_CASE("a kernel that somebody wrote is theirs, whatever library uses it") {
  CHECK(FewBlocks(Analyze(CallsOf("sglang::scaled_mm", "_block_scaled_block_gemm", 18, 97), "H100",
                          kUnits)) != nullptr);
  const Analyzed attention = Analyze(
      CallsOf("aten::_scaled_dot_product_flash_attention", "attn_fwd", 18, 97), "H100", kUnits);
  const Finding* finding = OfLibrary(attention);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_a.has_value());
  CHECK_FALSE(finding->change_b.has_value());  // the compiler calls the same kernels
}

TEST_CASE("ROCm's extended launches count work-items, others blocks") {
  const auto has = [](std::string_view launch, int grid) {
    TraceText text;
    double at = 10;
    for (int i = 0; i < 40; ++i) {
      text.Op("my::scan", at, 8).Runtime(launch, at + 1, 4, i + 1);
      text.Kernel("my_kernel", at + 20, 97, i + 1, 7,
                  fmt::format(R"("grid":[{},1,1],"block":[256,1,1])", grid));
      at += 102;
    }
    return FewBlocks(Analyze(text.Annotation("ProfilerStep#1", 0, at), "MI300X", kUnits)) !=
           nullptr;
  };
  CHECK(has("hipExtModuleLaunchKernel", 18 * 256));
  CHECK_FALSE(has("hipExtModuleLaunchKernel", 100 * 256));
  CHECK_FALSE(has("hipExtModuleLaunchKernel", 18 * 256 + 1));  // no whole number of blocks
  CHECK_FALSE(has("hipLaunchKernel", 18 * 256));
  CHECK(has("hipLaunchKernel", 18));
}

TEST_CASE("grids that fill half of the device, short kernels and collectives are none") {
  CHECK(FewBlocks(Analyze(CallsOf("my::scan", "my_kernel", 67, 97), "H100", kUnits)) == nullptr);
  CHECK(FewBlocks(Analyze(CallsOf("my::scan", "my_kernel", 18, 8), "H100", kUnits)) == nullptr);
  CHECK(FewBlocks(Analyze(
            CallsOf("record_param_comms", "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 18, 97),
            "H100", kUnits)) == nullptr);
  // How many units there are is not known.
  CHECK(FewBlocks(Analyze(CallsOf("my::scan", "my_kernel", 18, 97), "H100")) == nullptr);
}

TEST_CASE("large lines that no finding is about are named") {
  const Analyzed one = Analyze(CallsOf("my::scan", "my_kernel", 67, 97), "H100", kUnits);
  REQUIRE(one.analysis.uncovered.size() == 1);
  const UncoveredLine& line = one.analysis.uncovered.front();
  CHECK(line.work == ledger::WorkKind::kUnknown);
  CHECK_FALSE(line.bound_ms.has_value());  // nothing rates them
  CHECK(line.ms == doctest::Approx(40 * 0.197));
  // Half of the kind's time has a way out.
  const Analyzed covered = Analyze(CallsOf("my::scan", "my_kernel", 18, 110), "H100", kUnits);
  REQUIRE(FewBlocks(covered) != nullptr);
  CHECK(covered.analysis.uncovered.empty());
}

}  // namespace
}  // namespace jarvis::findings
