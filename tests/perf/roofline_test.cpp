#include "perf/roofline.h"

#include <doctest/doctest.h>

namespace jarvis::perf {
namespace {

const Platform& Mi300x() {
  return *FindPlatform("MI300X");
}

TEST_CASE("a square GEMM is bound by arithmetic") {
  // 4096 x 4096 x 8192 in bf16, by hand: 2 * 2^37 FLOPs, 2 * (2^25 + 2^25 + 2^24) bytes.
  const Work work{274877906944.0, 167772160.0, "matrix_bf16"};
  const Roofline achievable = RooflineOf(work, Mi300x());
  CHECK(*achievable.compute_us == doctest::Approx(388.246).epsilon(1e-6));
  CHECK(*achievable.memory_us == doctest::Approx(31.6551).epsilon(1e-5));
  CHECK(achievable.roof_us == achievable.compute_us);
  CHECK(achievable.bound == Bound::kCompute);
  CHECK(*achievable.intensity == 1638.4);
  CHECK(*achievable.ridge_peak == doctest::Approx(246.68).epsilon(1e-4));
  CHECK(*achievable.ridge_achievable == doctest::Approx(133.585).epsilon(1e-5));
  CHECK(achievable.ridge == achievable.ridge_achievable);
  CHECK(achievable.ceiling->source == Source::kAchievable);
  const Roofline peak = RooflineOf(work, Mi300x(), RoofRule::kPeak);
  CHECK(*peak.roof_us == doctest::Approx(210.248).epsilon(1e-5));
  CHECK(peak.ridge == peak.ridge_peak);
}

TEST_CASE("the reference's own examples, digit for digit") {
  const Roofline attention =
      RooflineOf({7077888.0, 577536.0, "matrix_fp16"}, Mi300x(), RoofRule::kTraceLens);
  CHECK(*attention.roof_us == 0.10896905660377358);
  CHECK(attention.bound == Bound::kMemory);
  const Roofline mm =
      RooflineOf({2.0 * 10 * 512 * 1000, (10 * 512 + 512 * 1000 + 10 * 1000) * 2.0, "matrix_fp16"},
                 Mi300x(), RoofRule::kTraceLens);
  CHECK(*mm.roof_us == doctest::Approx(0.19891320754716982).epsilon(1e-15));
}

TEST_CASE("work without arithmetic has the roof of its bytes") {
  const Work copy{0.0, 5300.0, "vector_fp32"};
  const Roofline ours = RooflineOf(copy, Mi300x());
  CHECK(*ours.roof_us == doctest::Approx(0.001));
  CHECK(ours.bound == Bound::kMemory);
  CHECK_FALSE(RooflineOf(copy, Mi300x(), RoofRule::kTraceLens).roof_us.has_value());
  // Also where the unit is not known: no arithmetic needs none.
  CHECK(RooflineOf({0.0, 5300.0, ""}, Mi300x()).roof_us.has_value());
  CHECK(RooflineOf({0.0, 0.0, ""}, Mi300x()).bound == Bound::kMemory);
}

TEST_CASE("what is not known gives no roof") {
  CHECK_FALSE(RooflineOf({1e9, 1e6, ""}, Mi300x()).roof_us.has_value());
  CHECK(RooflineOf({1e9, 1e6, ""}, Mi300x()).memory_us.has_value());
  CHECK_FALSE(RooflineOf({1e9, 1e6, "matrix_fp4"}, Mi300x()).roof_us.has_value());
  const Roofline no_bytes = RooflineOf({1e9, std::nullopt, "matrix_bf16"}, Mi300x());
  CHECK(no_bytes.compute_us.has_value());
  CHECK_FALSE(no_bytes.roof_us.has_value());
  CHECK_FALSE(no_bytes.intensity.has_value());
  CHECK_FALSE(RooflineOf({std::nullopt, 1e6, "matrix_bf16"}, Mi300x()).roof_us.has_value());
  Platform no_bandwidth = Mi300x();
  no_bandwidth.mem_bw_gbps.reset();
  CHECK_FALSE(RooflineOf({1e9, 1e6, "matrix_bf16"}, no_bandwidth).roof_us.has_value());
  CHECK_FALSE(RooflineOf({1e9, 1e6, "matrix_bf16"}, no_bandwidth).ridge.has_value());
}

TEST_CASE("the peak is taken where nothing achievable is known, but not in compatible mode") {
  const Platform& b200 = *FindPlatform("B200");
  const Work work{1e12, 1e6, "matrix_bf16"};
  CHECK(RooflineOf(work, b200).ceiling->source == Source::kPeak);
  CHECK_FALSE(RooflineOf(work, b200).ridge_achievable.has_value());
  CHECK_FALSE(RooflineOf(work, b200, RoofRule::kTraceLens).roof_us.has_value());
  const Work exact{708e9, 5.3e9, "matrix_bf16"};  // both parts take 1 ms
  CHECK(RooflineOf(exact, Mi300x()).bound == Bound::kCompute);
}

}  // namespace
}  // namespace jarvis::perf
