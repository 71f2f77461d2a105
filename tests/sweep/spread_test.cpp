#include "sweep/judge/spread.h"

#include <doctest/doctest.h>

namespace jarvis::sweep {
namespace {

TEST_CASE("the spread of a few times") {
  const std::vector<double> times = {4, 1, 3, 2, 10};
  const Spread spread = SpreadOf(times);
  CHECK(spread.mean == 4);
  CHECK(spread.median == 3);
  CHECK(spread.min == 1);
  CHECK(spread.max == 10);
  CHECK(*spread.std == doctest::Approx(3.535534));
  CHECK(*spread.cv == doctest::Approx(0.8838835));
  CHECK(spread.iqr == 2);
  CHECK(spread.p95 == doctest::Approx(8.8));
  CHECK(spread.mad == 1);
  const std::vector<double> one = {7};
  CHECK_FALSE(SpreadOf(one).std.has_value());
  CHECK_FALSE(SpreadOf(one).cv.has_value());
}

TEST_CASE("a change counts when it is beyond the noise") {
  const std::vector<double> base = {10.0, 10.1, 9.9, 10.05, 9.95, 10.02, 9.98, 10.0};
  std::vector<double> slower;
  for (const double value : base)
    slower.push_back(value * 1.05);
  const auto change = ChangeOf(base, slower);
  REQUIRE(change.has_value());
  CHECK(change->percent == doctest::Approx(5));
  CHECK(change->significant);
  CHECK(change->low < 5);
  CHECK(change->high > 5);
  const auto same = ChangeOf(base, base);
  CHECK(same->percent == 0);
  CHECK_FALSE(same->significant);
  // The same sets, the same interval.
  CHECK(ChangeOf(base, slower)->low == change->low);
  const std::vector<double> one = {10};
  CHECK_FALSE(ChangeOf(base, one).has_value());
  const std::vector<double> none = {0, 0};
  CHECK_FALSE(ChangeOf(none, base).has_value());
}

TEST_CASE("many values have the interval of the normal distribution") {
  std::vector<double> base;
  std::vector<double> other;
  for (int i = 0; i < 800; ++i) {
    base.push_back(100 + i % 7);
    other.push_back(101 + i % 7);
  }
  const auto change = ChangeOf(base, other);
  REQUIRE(change.has_value());
  CHECK(change->significant);
  CHECK(change->percent == doctest::Approx(0.971).epsilon(0.01));
  CHECK(change->high - change->low == doctest::Approx(0.38).epsilon(0.05));
}

}  // namespace
}  // namespace jarvis::sweep
