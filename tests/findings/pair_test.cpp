// Two traces as facts: what a unit's difference is made of, and which part of it is a lever.
#include "findings/two/pair.h"

#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/analysis_support.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

// A product of 4096 x 4096 x 4096, a sum, and flash attention; microseconds.
TraceText Layer(double product, double sum, double attention) {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 50, "Cijk_Alik_Bljk_B", 100, product, 1,
                    Shapes("[[4096,4096],[4096,4096]]", "c10::BFloat16"));
  text.OpWithKernel("aten::add", 60, 50, "vectorized_elementwise_kernel", 100 + product, sum, 2,
                    Shapes("[[8192,8192],[8192,8192]]", "c10::BFloat16"));
  if (attention > 0) {
    text.OpWithKernel("aten::_flash_attention_forward", 120, 50, "attn_fwd", 100 + product + sum,
                      attention, 3,
                      Shapes("[[2,512,8,64],[2,512,8,64],[2,512,8,64]]", "c10::BFloat16", 3));
  }
  return text;
}

CompareSide SideOf(const Analyzed& of, const char* platform) {
  return {*of.trace, *perf::FindPlatform(platform)};
}

ComparedPair Compare(const Analyzed& target, const char* on, const Analyzed& reference,
                     const char* other) {
  Job job;
  auto pair = ComparePair(SideOf(target, on), SideOf(reference, other), job);
  REQUIRE(pair.has_value());
  return std::move(*pair);
}

const PairLever* LeverOf(const ComparedPair& pair, WorkClass work) {
  for (const PairLever& lever : pair.levers) {
    if (lever.work == work) return &lever;
  }
  return nullptr;
}

TEST_CASE("products at a lower share of the peak are not explained by the devices") {
  // 69 % of the H100's peak against 38 % of the MI300X's.
  const auto h100 = Analyze(Layer(200, 300, 0), "H100");
  const auto mi300x = Analyze(Layer(280, 190, 0), "MI300X");
  const ComparedPair pair = Compare(mi300x, "MI300X", h100, "H100");
  const PairLever* products = LeverOf(pair, WorkClass::kProducts);
  REQUIRE(products != nullptr);
  // 708 TFLOPS/s were measured on the MI300X: 194 us; the same share of its peak would be 151.
  CHECK(products->target == PairTarget::kMeasured);
  CHECK(products->target_ms ==
        doctest::Approx(2.0 * 4096 * 4096 * 4096 / 708e12 * 1e3).epsilon(0.01));
  CHECK(products->library == "Tensile");
  // The sum has the ratio of the bandwidths.
  CHECK(LeverOf(pair, WorkClass::kMemoryBound) == nullptr);
  const BalanceLine* sum = pair.balance.Find(WorkClass::kMemoryBound);
  REQUIRE(sum != nullptr);
  REQUIRE(sum->expected_ms.has_value());
  CHECK(*sum->expected_ms == doctest::Approx(0.3 * 3350 / 5300).epsilon(0.01));
  // At the same share of its peak the product is what the devices explain.
  const auto tuned = Analyze(Layer(152, 190, 0), "MI300X");
  CHECK(LeverOf(Compare(tuned, "MI300X", h100, "H100"), WorkClass::kProducts) == nullptr);
}

TEST_CASE("work that is near no roof is held against the reference's time") {
  const auto h100 = Analyze(Layer(200, 300, 100), "H100");
  const auto slow = Analyze(Layer(152, 190, 150), "MI300X");
  const ComparedPair pair = Compare(slow, "MI300X", h100, "H100");
  const PairLever* attention = LeverOf(pair, WorkClass::kAttention);
  REQUIRE(attention != nullptr);
  CHECK(attention->target == PairTarget::kComparison);
  CHECK(attention->target_ms == doctest::Approx(0.1));
  CHECK_FALSE(pair.balance.Find(WorkClass::kAttention)->expected_ms.has_value());
  // As fast as there: nothing to say, whatever the roofs' ratio.
  const auto equal = Analyze(Layer(152, 190, 100), "MI300X");
  CHECK(LeverOf(Compare(equal, "MI300X", h100, "H100"), WorkClass::kAttention) == nullptr);
}

TEST_CASE("on the same device the reference's time is what is expected") {
  const auto before = Analyze(Layer(200, 300, 0), "H100");
  const auto after = Analyze(Layer(200, 400, 0), "H100");
  const ComparedPair pair = Compare(after, "H100", before, "H100");
  const PairLever* sums = LeverOf(pair, WorkClass::kMemoryBound);
  REQUIRE(sums != nullptr);
  CHECK(sums->target == PairTarget::kComparison);
  CHECK(sums->saved_ms() == doctest::Approx(0.1).epsilon(0.01));
  CHECK(LeverOf(pair, WorkClass::kProducts) == nullptr);
  CHECK(Compare(before, "H100", before, "H100").levers.empty());
}

TEST_CASE("work launched before the recording is on neither side") {
  TraceText late = Layer(200, 300, 0);
  late.Kernel("Cijk_of_an_earlier_step", 5, 80, 0);
  const auto with = Analyze(late, "H100");
  const auto without = Analyze(Layer(200, 300, 0), "H100");
  const ComparedPair pair = Compare(with, "H100", without, "H100");
  CHECK(pair.ops.primary_ms == doctest::Approx(0.5));
  CHECK(pair.ops.only_primary_ms == 0);
  const BalanceLine* products = pair.balance.Find(WorkClass::kProducts);
  REQUIRE(products != nullptr);
  CHECK(products->ms[0] == doctest::Approx(0.2));
}

TEST_CASE("the lines of the balance add up to the difference") {
  const auto h100 = Analyze(Layer(200, 300, 100), "H100");
  const auto mi300x = Analyze(Layer(280, 190, 130), "MI300X");
  const ComparedPair pair = Compare(mi300x, "MI300X", h100, "H100");
  double sum = 0;
  for (const BalanceLine& line : pair.balance.lines)
    sum += line.difference_ms();
  CHECK(sum == doctest::Approx(pair.balance.ms[0] - pair.balance.ms[1]));
  CHECK(pair.balance.unit == "recording");
}

TEST_CASE("a few bytes that take long wait, many are a transfer") {
  BalancePart part;
  part.collective = true;
  part.bytes = 128;
  part.median_us[0] = 300;
  CHECK(IsOnlyWaiting(part, 0));
  part.bytes = 100e6;
  CHECK_FALSE(IsOnlyWaiting(part, 0));
  part.bytes = 128;
  part.median_us[0] = 12;
  CHECK_FALSE(IsOnlyWaiting(part, 0));
}

}  // namespace
}  // namespace jarvis::findings
