#include <vector>

#include <doctest/doctest.h>

#include "analysis/ranks/fleet_stats.h"
#include "analysis/ranks/rank_work.h"

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

TEST_CASE("steps are cut where the GPU ends what each has launched, and add up") {
  const IntervalSet<std::int64_t> compute = {{50, 150}, {160, 250}, {300, 320}};
  const IntervalSet<std::int64_t> comm = {{140, 155}, {250, 290}};
  const IntervalSet<std::int64_t> busy = {{50, 155}, {160, 290}, {300, 320}};
  // Work of before the first mark ends within it; a mark within another is none; the last step
  // launches nothing.
  const std::vector<StepMark> marks = {{7, 100, 200}, {6, 20, 100}, {9, 120, 130}, {8, 200, 400}};
  const std::vector<LaunchedEnd> launched = {{110, 250}, {10, 60}, {30, 155}, {120, 290}};
  const auto steps = FindRankSteps(marks, launched, compute, comm, busy);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].number == 6);
  CHECK(steps[0].ts_ns == 60);
  CHECK(steps[0].dur_ns == 95);
  CHECK(steps[0].busy_ns == 95);
  CHECK(steps[0].compute_ns == 90);
  CHECK(steps[0].exposed_ns == 5);
  CHECK(steps[1].number == 7);
  CHECK(steps[1].ts_ns == 155);
  CHECK(steps[1].dur_ns == 135);
  CHECK(steps[1].busy_ns == 130);
  CHECK(steps[1].compute_ns == 90);
  CHECK(steps[1].exposed_ns == 40);
  CHECK(steps[2].ts_ns == 290);
  CHECK(steps[2].dur_ns == 110);
  CHECK(steps[2].compute_ns == 20);
  CHECK(FindRankSteps({}, launched, compute, comm, busy).empty());
}

}  // namespace
}  // namespace jarvis::analysis
