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
  CHECK(FewBlocks(Analyze(CallsOf("my::scan", "my_kernel", 18, 12), "H100", kUnits)) == nullptr);
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
