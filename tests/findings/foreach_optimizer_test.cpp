// Optimizers that update lists of parameters op by op, against one fused kernel.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

using ForeachPasses = std::vector<std::pair<std::string_view, double>>;

constexpr std::string_view kMultiTensor =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
    "at::native::(anonymous namespace)::TensorListMetadata<2>, int>(int)";

// Three steps: a product of 1000 us, then the optimizer's passes.
// With Python frames the optimizer's mark begins within the call that sets it.
Analyzed Trained(std::string_view optimizer, const ForeachPasses& passes, bool python = false) {
  TraceText text;
  int id = 0;
  for (int step = 0; step < 3; ++step) {
    const double at = 10'000.0 * step;
    text.Annotation("ProfilerStep#" + std::to_string(step + 1), at, 9900);
    text.OpWithKernel("aten::mm", at + 10, 20, "gemm", at + 40, 1000, ++id);
    const double begin = at + 100;
    if (!optimizer.empty())
      text.Annotation(optimizer, begin, 50.0 * static_cast<double>(passes.size()));
    if (python) text.Python("<built-in method _record_function_enter_new>", begin - 1, 1.5);
    double host = begin + 1, gpu = at + 1100;
    for (const auto& [op, us] : passes) {
      text.OpWithKernel(op, host, 30, kMultiTensor, gpu, us, ++id);
      host += 45;
      gpu += us + 1;
    }
  }
  return Analyze(text, "H100");
}

const Finding* ForeachOf(const Analyzed& one) {
  return one.FindRule(Pattern::kForeachOptimizer);
}

// 3 + 2 + 3 + 2 + 2 + 4 = 16 tensors, of which the fused kernel moves 7.
const ForeachPasses kAdam = {{"aten::_foreach_add_", 2},      {"aten::_foreach_lerp_", 150},
                             {"aten::_foreach_mul_", 100},    {"aten::_foreach_addcmul_", 150},
                             {"aten::_foreach_sqrt", 100},    {"aten::_foreach_div_", 100},
                             {"aten::_foreach_addcdiv_", 200}};

TEST_CASE("Adam over lists is sized by the tensors that its passes move") {
  const Analyzed one = Trained("Optimizer.step#AdamW.step", kAdam);
  const Finding* finding = ForeachOf(one);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(3 * 0.800));  // without the counters
  CHECK_FALSE(finding->change_a.has_value());
  REQUIRE(finding->change_b.has_value());
  const double most = 1 - 7.0 / 16;
  CHECK(finding->change_b->savings_ms.high == doctest::Approx(most * 3 * 0.800));
  CHECK(finding->change_b->savings_ms.low == doctest::Approx(0.6 * most * 3 * 0.800));
  REQUIRE(finding->wall_b.has_value());
  CHECK(finding->wall_b->ms.mid > 0);
  CHECK(finding->wall_b->ms.high <= 1.1 * most * 3 * 0.800);  // and launches
  // Nothing says that no fix is known for the same kernels.
  for (const Finding& other : one.analysis.findings)
    CHECK((&other == finding || other.subject.find("foreach") == std::string::npos));
}

TEST_CASE("the mark of an optimizer holds what runs while it is open") {
  CHECK(ForeachOf(Trained("Optimizer.step#AdamW.step", kAdam, true)) != nullptr);
}

TEST_CASE("lists alone are no optimizer with a fused kernel") {
  CHECK(ForeachOf(Trained("Optimizer.step#RMSprop.step", kAdam)) == nullptr);
  // Whose passes they are nobody says: gradients are clipped over lists, too.
  CHECK(ForeachOf(Trained("", kAdam)) == nullptr);
  CHECK(ForeachOf(Trained("Optimizer.zero_grad#AdamW.zero_grad",
                          {{"aten::_foreach_zero_", 300}})) == nullptr);
  CHECK(ForeachOf(Trained("Optimizer.step#AdamW.step", {{"aten::_fused_adamw_", 300}})) == nullptr);
  // Plain SGD is one pass already.
  CHECK(ForeachOf(Trained("Optimizer.step#SGD.step", {{"aten::_foreach_add_", 300}})) == nullptr);
  const Analyzed with_momentum = Trained(
      "Optimizer.step#SGD.step",
      {{"aten::_foreach_add", 200}, {"aten::_foreach_mul_", 200}, {"aten::_foreach_add_", 300}});
  const Finding* momentum = ForeachOf(with_momentum);
  REQUIRE(momentum != nullptr);
  CHECK(momentum->change_b->savings_ms.high == doctest::Approx((1 - 5.0 / 6) * 3 * 0.700));
}

}  // namespace
}  // namespace jarvis::findings
