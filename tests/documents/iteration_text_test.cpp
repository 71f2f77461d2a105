#include "documents/iteration_text.h"

#include <doctest/doctest.h>

namespace jarvis::documents {
namespace {

using analysis::Iteration;

// Steps of 10 ms of GPU work, each begins `period_ms` after the one before.
std::vector<Iteration> Steps(std::size_t count, std::int64_t requests, std::int64_t period_ms) {
  std::vector<Iteration> steps(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::int64_t>(i) * period_ms * 1'000'000;
    (requests > 0 ? steps[i].sums.generation_requests : steps[i].sums.context_requests) =
        requests > 0 ? requests : 1;
    (requests > 0 ? steps[i].sums.g_sq : steps[i].sums.c_sq) = requests > 0 ? requests : 512;
    steps[i].host = {at, at + 3'000'000};
    steps[i].busy_ns = 10'000'000;
    if (i + 1 < count) steps[i].period_ns = period_ms * 1'000'000;
  }
  return steps;
}

TEST_CASE("steps that follow each other tell tokens a second") {
  CHECK(
      IterationSentence(Steps(3, 32, 16)) ==
      "A decode step gives 32 requests a token each and the next one starts 16.0 ms later (median "
      "of 2): 2000 tokens/s; 13.0 ms of that lies after the step's annotation.");
  CHECK(IterationSentence(Steps(3, 0, 16)).find("tokens/s") == std::string::npos);
}

TEST_CASE("one step alone tells what is possible at most, or nothing") {
  const std::string text = IterationSentence(Steps(1, 32, 16));
  CHECK(text.find("so at most 3200 tokens/s") != std::string::npos);
  CHECK(text.find("is unknown") != std::string::npos);
  CHECK(IterationSentence(Steps(1, 0, 16)).empty());
  CHECK(IterationSentence({}).empty());
}

TEST_CASE("the pace is that of the phase with the most steps") {
  std::vector<Iteration> steps = Steps(4, 8, 20);
  steps[0] = Steps(1, 0, 20)[0];
  steps[0].period_ns = 90'000'000;
  const auto pace = PaceOf(steps);
  REQUIRE(pace.has_value());
  CHECK(pace->phase == "decode");
  CHECK(pace->count == 3);
  CHECK(*pace->period_ms == doctest::Approx(20));
  CHECK(*pace->per_second == doctest::Approx(400));
}

TEST_CASE("tokens a second have three digits") {
  CHECK(PerSecond(3274.3) == "3270");
  CHECK(PerSecond(99.4) == "99");
  CHECK(PerSecond(123456) == "123000");
}

}  // namespace
}  // namespace jarvis::documents
