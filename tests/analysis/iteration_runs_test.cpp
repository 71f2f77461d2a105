#include "analysis/frames/iteration_runs.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::analysis {
namespace {

// One step for each letter: a digit decodes so many requests, "p" computes a prompt, "m" does both.
std::vector<Iteration> Steps(std::string_view letters) {
  std::vector<Iteration> out;
  for (const char letter : letters) {
    Iteration& step = out.emplace_back();
    step.sums.context_requests = letter == 'p' || letter == 'm' ? 1 : 0;
    step.sums.generation_requests = letter == 'p' ? 0 : letter == 'm' ? 1 : letter - '0';
    step.sums.context_sum = 8 * step.sums.context_requests;
    step.sums.generation_sum = step.sums.generation_requests;
    step.sums.c_sq = step.sums.context_sum;
    step.sums.g_sq = step.sums.generation_sum;
  }
  return out;
}

TEST_CASE("the busiest steps in a row are those with the most requests together") {
  const auto busiest = [](std::string_view letters, std::size_t count) {
    const auto steps = Steps(letters);
    const IterationRun run = BusiestRun(steps, count);
    return std::vector{run.first, run.count};
  };
  using Run = std::vector<std::size_t>;
  CHECK(busiest("1199911", 3) == Run{2, 3});
  CHECK(busiest("1191911", 3) == Run{2, 3});
  CHECK(busiest("4444", 2) == Run{0, 2});
  CHECK(busiest("12", 5) == Run{0, 2});
  CHECK(busiest("m9p", 1) == Run{1, 1});
}

TEST_CASE("of other programs the longest run of steady steps is taken") {
  const auto steady = [](std::string_view odd, std::size_t count) {
    auto steps = Steps(std::string(odd.size(), '0'));
    for (std::size_t i = 0; i < odd.size(); ++i)
      steps[i].steady = odd[i] == 's';
    const IterationRun run = SteadyRun(steps, count);
    return std::vector{run.first, run.count};
  };
  using Run = std::vector<std::size_t>;
  CHECK(steady("oss", 8) == Run{1, 2});
  CHECK(steady("ssosss", 8) == Run{3, 3});
  CHECK(steady("ssosss", 2) == Run{3, 2});
  CHECK(steady("ssoss", 8) == Run{0, 2});
  CHECK(steady("ooo", 2) == Run{0, 2});
}

TEST_CASE("the part of steps with a prompt follows from what the requests generate") {
  CHECK(SteadyLoad{32, 1024, 1}.PromptShare() == doctest::Approx(1.0 / 32));
  // Half as many tokens on average: twice as often a request begins.
  CHECK(SteadyLoad{32, 1024, 0}.PromptShare() == doctest::Approx(1.0 / 16));
  CHECK(SteadyLoad{32, 1024, 0.8}.PromptShare() == doctest::Approx(64 / (1024 * 1.8)));
  CHECK(SteadyLoad{32, 8, 1}.PromptShare() == 1);
}

// A busy step is as busy with a prompt ("M") as without ("9").
std::vector<Iteration> BusySteps(std::string_view letters) {
  std::vector<Iteration> out = Steps(letters);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] != 'M') continue;
    out[i].sums.context_requests = 1;
    out[i].sums.generation_requests = 8;
  }
  return out;
}

TEST_CASE("of busy runs that with the wanted part of steps with a prompt is taken") {
  const auto first = [](std::string_view letters, std::size_t count, double share) {
    const auto steps = BusySteps(letters);
    const IterationRun run = RunOfPromptShare(steps, count, share);
    CHECK(run.count == std::min(count, steps.size()));
    return run.first;
  };
  CHECK(first("9999M99M99", 3, 1.0 / 3) == 2);
  CHECK(first("MM99999999", 4, 0.5) == 0);
  CHECK(first("MM99999999", 4, 0.0) == 2);
  CHECK(first("MM99999999", 4, 0.25) == 1);
  // A run with the very part that is not busy does not count.
  CHECK(first("1M1M99999999", 4, 0.5) == 3);
  CHECK(first("99M", 8, 0.5) == 0);
}

TEST_CASE("the longest run of a phase lies inside the steps that are asked for") {
  const auto steps = Steps("11m111p1111");
  const auto decode = LongestRunOf(steps, {0, 8}, "decode");
  REQUIRE(decode.has_value());
  CHECK(decode->first == 3);
  CHECK(decode->count == 3);
  CHECK(LongestRunOf(steps, {7, 4}, "decode")->count == 4);
  CHECK(LongestRunOf(steps, {0, 11}, "prefill")->first == 6);
  CHECK_FALSE(LongestRunOf(steps, {3, 3}, "mixed").has_value());
}

}  // namespace
}  // namespace jarvis::analysis
