#include "analysis/frames/iteration_runs.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace jarvis::analysis {
namespace {

// Of each run of `count` steps, by its first.
std::vector<std::int64_t> RequestsOfRuns(std::span<const Iteration> iterations, std::size_t count) {
  const auto requests = [&](std::size_t i) {
    return iterations[i].sums.context_requests + iterations[i].sums.generation_requests;
  };
  std::int64_t sum = 0;
  std::vector<std::int64_t> sums;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    sum += requests(i) - (i < count ? 0 : requests(i - count));
    if (i + 1 >= count) sums.push_back(sum);
  }
  return sums;
}

bool HasPrompt(const Iteration& step) {
  return step.sums.context_requests > 0;
}

}  // namespace

IterationRun BusiestRun(std::span<const Iteration> iterations, std::size_t count) {
  count = std::min(count, iterations.size());
  const std::vector<std::int64_t> requests = RequestsOfRuns(iterations, count);
  const auto most = std::max_element(requests.begin(), requests.end());
  return {static_cast<std::size_t>(most - requests.begin()), count};
}

IterationRun SteadyRun(std::span<const Iteration> iterations, std::size_t count) {
  IterationRun best, run;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    if (!iterations[i].steady) {
      run = {i + 1, 0};
      continue;
    }
    ++run.count;
    if (run.count > best.count) best = run;
  }
  if (best.count == 0) best.count = iterations.size();
  return {best.first, std::min(best.count, count)};
}

double SteadyLoad::PromptShare() const {
  const double mean_tokens = most_tokens * (1 + least_part) / 2;
  return std::min(1.0, static_cast<double>(requests) / mean_tokens);
}

std::size_t CountPromptSteps(std::span<const Iteration> iterations, IterationRun run) {
  const auto steps = iterations.subspan(run.first, run.count);
  return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), &HasPrompt));
}

IterationRun RunOfPromptShare(std::span<const Iteration> iterations, std::size_t count,
                              double share) {
  constexpr double kNearlyAll = 0.95;
  const IterationRun busiest = BusiestRun(iterations, count);
  const std::vector<std::int64_t> requests = RequestsOfRuns(iterations, busiest.count);
  const double enough = kNearlyAll * static_cast<double>(requests[busiest.first]);
  std::size_t prompts = CountPromptSteps(iterations, {0, busiest.count});
  std::optional<std::size_t> best;
  double best_off = 0;
  for (std::size_t first = 0; first < requests.size(); ++first) {
    if (first > 0) {
      prompts += HasPrompt(iterations[first + busiest.count - 1]) ? 1u : 0u;
      prompts -= HasPrompt(iterations[first - 1]) ? 1u : 0u;
    }
    if (static_cast<double>(requests[first]) < enough) continue;
    const double off =
        std::abs(static_cast<double>(prompts) / static_cast<double>(busiest.count) - share);
    if (best && (off > best_off || (off == best_off && requests[first] <= requests[*best]))) {
      continue;
    }
    best = first;
    best_off = off;
  }
  return {best.value_or(busiest.first), busiest.count};
}

std::optional<IterationRun> LongestRunOf(std::span<const Iteration> iterations, IterationRun within,
                                         std::string_view phase) {
  IterationRun best, run{within.first, 0};
  for (std::size_t i = within.first; i < within.first + within.count; ++i) {
    if (perf::PhaseOf(iterations[i].sums) != phase) {
      run = {i + 1, 0};
      continue;
    }
    ++run.count;
    if (run.count > best.count) best = run;
  }
  return best.count == 0 ? std::nullopt : std::optional(best);
}

}  // namespace jarvis::analysis
