// Two traces as facts: what a unit's difference is made of, and which part of it is a lever.
#include "findings/two/pair.h"

#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using ledger::WorkKind;
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

const PairLever* LeverOf(const ComparedPair& pair, WorkKind work) {
  for (const PairLever& lever : pair.levers) {
    if (lever.work == work) return &lever;
  }
  return nullptr;
}

TEST_CASE("kinds of memory-bound work are one line where one side fuses them") {
  const auto chain = [](bool fused) {
    TraceText text;
    text.OpWithKernel("aten::mm", 0, 50, "Cijk_Alik_Bljk_B", 100, 500, 1);
    const char* const kernels[] = {"vectorized_elementwise_kernel", "layer_norm_kernel",
                                   "reduce_kernel"};
    for (int i = 0; i < 3; ++i)
      text.OpWithKernel("aten::op", 60 + 20 * i, 15, fused ? "triton_poi_fused_add_0" : kernels[i],
                        601 + 201 * i, fused ? 60 : 200, 2 + i);
    return text;
  };
  const auto eager = Analyze(chain(false), "MI300X");
  const auto fused = Analyze(chain(true), "MI300X");
  const ComparedPair apart = Compare(fused, "MI300X", eager, "MI300X");
  const auto lines = [](const ComparedPair& pair) {
    double sum = 0;
    int folded = 0;
    for (const BalanceLine& line : pair.balance.lines) {
      sum += line.difference_ms();
      folded += !line.work && !line.idle && line.ms[1] > 0.5 ? 1 : 0;
    }
    CHECK(sum == doctest::Approx(pair.balance.ms[0] - pair.balance.ms[1]));
    return folded;
  };
  CHECK(lines(apart) == 1);
  CHECK(lines(Compare(eager, "MI300X", eager, "MI300X")) == 0);
}

TEST_CASE("products at a lower share of the peak are not explained by the devices") {
  // 69 % of the H100's peak against 38 % of the MI300X's.
  const auto h100 = Analyze(Layer(200, 300, 0), "H100");
  const auto mi300x = Analyze(Layer(280, 190, 0), "MI300X");
  const ComparedPair pair = Compare(mi300x, "MI300X", h100, "H100");
  const PairLever* products = LeverOf(pair, WorkKind::kProduct);
  REQUIRE(products != nullptr);
  // 708 TFLOPS/s were measured on the MI300X: 194 us; the same share of its peak would be 151.
  CHECK(products->target == PairTarget::kMeasured);
  CHECK(products->target_ms ==
        doctest::Approx(2.0 * 4096 * 4096 * 4096 / 708e12 * 1e3).epsilon(0.01));
  CHECK(products->library == "Tensile");
  // The sum has the ratio of the bandwidths.
  CHECK(LeverOf(pair, WorkKind::kElementwise) == nullptr);
  const BalanceLine* sum = pair.balance.Find(WorkKind::kElementwise);
  REQUIRE(sum != nullptr);
  REQUIRE(sum->expected_ms.has_value());
  CHECK(*sum->expected_ms == doctest::Approx(0.3 * 3350 / 5300).epsilon(0.01));
  // At the same share of its peak the product is what the devices explain.
  const auto tuned = Analyze(Layer(152, 190, 0), "MI300X");
  CHECK(LeverOf(Compare(tuned, "MI300X", h100, "H100"), WorkKind::kProduct) == nullptr);
}

TEST_CASE("work that is near no roof is held against the reference's time") {
  const auto h100 = Analyze(Layer(200, 300, 100), "H100");
  const auto slow = Analyze(Layer(152, 190, 150), "MI300X");
  const ComparedPair pair = Compare(slow, "MI300X", h100, "H100");
  const PairLever* attention = LeverOf(pair, WorkKind::kAttention);
  REQUIRE(attention != nullptr);
  CHECK(attention->target == PairTarget::kComparison);
  CHECK(attention->target_ms == doctest::Approx(0.1));
  CHECK_FALSE(pair.balance.Find(WorkKind::kAttention)->expected_ms.has_value());
  // As fast as there: nothing to say, whatever the roofs' ratio.
  const auto equal = Analyze(Layer(152, 190, 100), "MI300X");
  CHECK(LeverOf(Compare(equal, "MI300X", h100, "H100"), WorkKind::kAttention) == nullptr);
}

TEST_CASE("on the same device the reference's time is what is expected") {
  const auto before = Analyze(Layer(200, 300, 0), "H100");
  const auto after = Analyze(Layer(200, 400, 0), "H100");
  const ComparedPair pair = Compare(after, "H100", before, "H100");
  const PairLever* sums = LeverOf(pair, WorkKind::kElementwise);
  REQUIRE(sums != nullptr);
  CHECK(sums->target == PairTarget::kComparison);
  CHECK(sums->saved_ms() == doctest::Approx(0.1).epsilon(0.01));
  CHECK(LeverOf(pair, WorkKind::kProduct) == nullptr);
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
  const BalanceLine* products = pair.balance.Find(WorkKind::kProduct);
  REQUIRE(products != nullptr);
  CHECK(products->ms[0] == doctest::Approx(0.2));
  CHECK(products->gpu_ms[0] == doctest::Approx(0.2));
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

TEST_CASE("kernels that all changed by one factor tell of a clock") {
  const auto before = Analyze(Layer(200, 300, 100), "H100");
  const auto slower = Analyze(Layer(250, 375, 125), "H100");
  const ComparedPair pair = Compare(slower, "H100", before, "H100");
  REQUIRE(OneFactor(pair.balance).has_value());
  CHECK(*OneFactor(pair.balance) == doctest::Approx(1.25));
  // One kind that changed, kernels that are exchanged, and no change are none.
  const auto one = Analyze(Layer(250, 300, 100), "H100");
  CHECK_FALSE(OneFactor(Compare(one, "H100", before, "H100").balance).has_value());
  CHECK_FALSE(OneFactor(Compare(before, "H100", before, "H100").balance).has_value());
  const auto other = Analyze(Layer(250, 375, 0), "H100");
  CHECK_FALSE(OneFactor(Compare(other, "H100", before, "H100").balance).has_value());
}

TEST_CASE("a rate and its share are of one resource") {
  // 512 queries a head: arithmetic a byte that a cache of keys for one query has not.
  const auto h100 = Analyze(Layer(200, 300, 100), "H100");
  const ComparedPair pair = Compare(h100, "H100", Analyze(Layer(200, 300, 110), "H100"), "H100");
  const BalanceLine* attention = pair.balance.Find(WorkKind::kAttention);
  REQUIRE(attention != nullptr);
  REQUIRE(attention->rate_share[0].has_value());
  CHECK(attention->told_by_arithmetic());
  CHECK(*attention->rate_share[0] == doctest::Approx(*attention->tflops[0] / 989.4).epsilon(0.01));
  const BalanceLine* sums = pair.balance.Find(WorkKind::kElementwise);
  REQUIRE(sums != nullptr);
  CHECK_FALSE(sums->told_by_arithmetic());
  CHECK(*sums->bandwidth_share[0] == doctest::Approx(*sums->tb_per_s[0] / 3.35).epsilon(0.01));
}

// A cast, a scaling and a cast back of 8192 x 4096, then a product.
TraceText Run(const char* scaled, bool product_between) {
  TraceText text;
  text.OpWithKernel("aten::copy_", 0, 5, "copy", 100, 100, 1,
                    Shapes("[[8192,4096],[8192,4096]]", "float"));
  text.OpWithKernel("aten::mul", 10, 5, "mul", 200, 100, 2, Shapes(scaled, "float"));
  if (product_between) {
    text.OpWithKernel("aten::mm", 15, 5, "Cijk_Alik", 300, 50, 5,
                      Shapes("[[4096,4096],[4096,4096]]", "c10::BFloat16"));
  }
  text.OpWithKernel("aten::copy_", 20, 5, "copy", 350, 100, 3,
                    Shapes("[[8192,4096],[8192,4096]]", "c10::BFloat16"));
  text.OpWithKernel("aten::mm", 30, 5, "Cijk_Alik", 450, 200, 4,
                    Shapes("[[4096,4096],[4096,4096]]", "c10::BFloat16"));
  return text;
}

TEST_CASE("ops in a row on one tensor are one run") {
  const auto runs = [](const Analyzed& of) {
    const CompareSide side = SideOf(of, "H100");
    Balance balance;
    balance.ms[0] = balance.ms[1] = 0.55;
    return FindMemoryRuns({side, of.analysis}, balance);
  };
  const auto all = Analyze(Run("[[8192,4096],[8192,1]]", false), "H100");
  const MemoryRuns found = runs(all);
  REQUIRE(found.runs.size() == 1);
  CHECK(found.runs[0].ops == std::vector<std::string>{"aten::copy_", "aten::mul", "aten::copy_"});
  CHECK(found.ms == doctest::Approx(0.3));
  CHECK(found.gpu.size() == 3);
  // One pass over 2 x 134 MB at 70 % of 3.35 TB/s.
  CHECK(found.left_ms == doctest::Approx(2 * 134.2e6 / (0.7 * 3.35e12) * 1e3).epsilon(0.05));
  // What stands between them needs the whole of the first; another size is another tensor.
  const MemoryRuns split = runs(Analyze(Run("[[8192,4096],[8192,1]]", true), "H100"));
  REQUIRE(split.runs.size() == 1);
  CHECK(split.runs[0].ops.size() == 2);
  CHECK(runs(Analyze(Run("[[512,4096],[512,1]]", false), "H100")).runs.empty());
}

TEST_CASE("only what takes launches away helps a host that sets the pace") {
  Finding finding;
  CHECK_FALSE(HelpsHost(finding));
  finding.change_a = Change{};
  finding.change_a->parts.push_back({{0.1, 0.2, 0.5}, {1, 2}});
  CHECK_FALSE(HelpsHost(finding));
  finding.change_a->parts.push_back({{0.9, 0.95, 1}, {3}});
  CHECK(HelpsHost(finding));
}

TEST_CASE("a few bytes that take long wait, many are a transfer") {
  ExchangePart part;
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
