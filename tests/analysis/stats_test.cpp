#include "analysis/attribution/stats.h"

#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::analysis {
namespace {

TEST_CASE("KahanSum keeps what a plain sum loses") {
  // 1 + 10 * 1e-16: every single addition rounds to 1, the compensation does not lose them.
  std::vector<double> values = {1.0};
  values.insert(values.end(), 10, 1e-16);
  double plain = 0;
  for (const double value : values)
    plain += value;
  CHECK(plain == 1.0);
  CHECK(KahanSum(values) == 1.000000000000001);
  CHECK(KahanSum({}) == 0);
  CHECK(KahanSum(std::vector<double>{3.5}) == 3.5);
}

TEST_CASE("PairwiseSum adds in the stated order") {
  // Below eight values: in order. ((0.1 + 0.2) + 0.3) is not 0.6.
  CHECK(PairwiseSum(std::vector<double>{0.1, 0.2, 0.3}) == 0.1 + 0.2 + 0.3);
  CHECK(PairwiseSum(std::vector<double>{0.1, 0.2, 0.3}) == 0.6000000000000001);
  // Eight accumulators up to 128 values, then a remainder in order.
  std::vector<double> v;
  for (int i = 0; i < 19; ++i)
    v.push_back(0.1 * (i + 1));
  double r[8];
  for (std::size_t i = 0; i < 8; ++i)
    r[i] = v[i] + v[i + 8];
  double wanted = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (std::size_t i = 16; i < 19; ++i)
    wanted += v[i];
  CHECK(PairwiseSum(v) == wanted);
  // Above that, halves whose length is a multiple of eight.
  std::vector<double> large(300);
  for (std::size_t i = 0; i < large.size(); ++i)
    large[i] = 1.0 / static_cast<double>(i + 1);
  const std::span<const double> all(large);
  CHECK(PairwiseSum(all) == PairwiseSum(all.first(144)) + PairwiseSum(all.subspan(144)));
  CHECK(PairwiseSum({}) == 0);
}

TEST_CASE("sums agree with long doubles, for random values") {
  std::mt19937 random(3);
  for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{127},
                              std::size_t{128}, std::size_t{129}, std::size_t{5000}}) {
    std::vector<double> values(n);
    long double exact = 0;
    for (double& value : values)
      exact += value = static_cast<double>(random()) / 1000.0;
    CHECK(KahanSum(values) == doctest::Approx(static_cast<double>(exact)).epsilon(1e-15));
    CHECK(PairwiseSum(values) == doctest::Approx(static_cast<double>(exact)).epsilon(1e-14));
  }
}

TEST_CASE("Median") {
  CHECK(Median({3}) == 3);
  CHECK(Median({4, 1}) == 2.5);
  CHECK(Median({5, 1, 3}) == 3);
  CHECK(Median({4, 1, 3, 2}) == 2.5);
}

TEST_CASE("GroupMoments") {
  // 2 4 4 4 5 5 7 9: mean 5, squared deviations sum to 32, n - 1 = 7.
  const Moments m = GroupMoments(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  CHECK(m.mean == 5);
  CHECK(m.median == 4.5);
  CHECK(m.min == 2);
  CHECK(m.max == 9);
  CHECK(m.sum == 40);
  REQUIRE(m.std.has_value());
  CHECK(*m.std == doctest::Approx(std::sqrt(32.0 / 7.0)).epsilon(1e-15));
  CHECK_FALSE(GroupMoments(std::vector<double>{2}).std.has_value());
  CHECK(*GroupMoments(std::vector<double>{2, 2, 2}).std == 0);
  // Far from zero a sum of squares would lose all digits.
  const Moments far = GroupMoments(std::vector<double>{1e9 + 1, 1e9 + 2, 1e9 + 3});
  CHECK(*far.std == doctest::Approx(1.0).epsilon(1e-12));
}

TEST_CASE("PopulationStd") {
  CHECK(PopulationStd(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9}) == 2);
  CHECK(PopulationStd(std::vector<double>{3}) == 0);
}

}  // namespace
}  // namespace jarvis::analysis
