#include <vector>

#include <doctest/doctest.h>

#include "analysis/ranks/fleet_stats.h"

namespace jarvis::analysis {
namespace {

TEST_CASE("chance by the sign test is that of as many heads or more") {
  CHECK(FleetSigns{}.Chance() == doctest::Approx(1));
  CHECK(FleetSigns{5, 0}.Chance() == doctest::Approx(1.0 / 32));
  CHECK(FleetSigns{0, 5}.Chance() == doctest::Approx(1));
  // 1 + 5 + 10 of 32.
  CHECK(FleetSigns{3, 2}.Chance() == doctest::Approx(0.5));
  // 1 + 10 + 45 of 1024.
  CHECK(FleetSigns{8, 2}.Chance() == doctest::Approx(56.0 / 1024));
  // Exact ones and those by the normal distribution meet.
  CHECK(FleetSigns{280, 220}.Chance() ==
        doctest::Approx(FleetSigns{281, 221}.Chance()).epsilon(0.02));
  CHECK(FleetSigns{100'000, 0}.Chance() < 1e-300);
  CHECK(FleetSigns{50'000, 50'000}.Chance() == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("a few bad values move neither the median nor the deviation") {
  CHECK(FleetMedian({3}) == 3);
  CHECK(FleetMedian({4, 1, 3, 2}) == 2.5);
  const FleetSpread spread = SpreadOf({10, 11, 9, 10, 12, 8, 1000}, 0.1);
  CHECK(spread.median == 10);
  CHECK(spread.sigma == doctest::Approx(1.4826));
  CHECK(spread.ScoreOf(1000) == doctest::Approx(990 / 1.4826));
  CHECK(SpreadOf({5, 5, 5}, 0.1).sigma == 0.1);
}

}  // namespace
}  // namespace jarvis::analysis
