#include "documents/iteration_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/median.h"
#include "base/number_text.h"
#include "documents/markdown_text.h"
#include "phrases/ids/iteration.h"
#include "phrases/phrase.h"

namespace jarvis::documents {
namespace {

using analysis::Iteration;

// What a step computes: "gives 32 requests a token each".
std::string WorkOf(const IterationPace& pace) {
  std::string prompts, tokens;
  if (pace.context_tokens > 0) {
    prompts = Say(phrases::iteration::kPrompts,
                  {{"tokens", pace.context_tokens}, {"requests", pace.context_requests}});
  }
  if (pace.requests > 0)
    tokens = Say(phrases::iteration::kGenerates, {{"requests", pace.requests}});
  if (prompts.empty() || tokens.empty()) return prompts + tokens;
  return Say(phrases::iteration::kBoth, {{"prompts", prompts}, {"generates", tokens}});
}

}  // namespace

std::string PerSecond(double value) {
  // Three digits: more would claim what one recorded step cannot tell.
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(value, 1.0))) - 2));
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

std::optional<IterationPace> PaceOf(const std::vector<Iteration>& iterations) {
  if (iterations.empty()) return std::nullopt;
  std::map<std::string_view, std::vector<const Iteration*>> by_phase;
  for (const Iteration& one : iterations)
    by_phase[perf::PhaseOf(one.sums)].push_back(&one);
  const auto most = std::max_element(
      by_phase.begin(), by_phase.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const std::vector<const Iteration*>& of_phase = most->second;
  const auto median = [&](auto value) {
    std::vector<double> values;
    for (const Iteration* one : of_phase)
      values.push_back(static_cast<double>(value(*one)));
    return UpperMedian(std::move(values));
  };
  IterationPace pace;
  pace.phase = most->first;
  pace.count = of_phase.size();
  const auto count = [&](auto value) { return static_cast<std::int64_t>(median(value)); };
  pace.context_requests = count([](const Iteration& i) { return i.sums.context_requests; });
  pace.context_tokens = count([](const Iteration& i) { return i.sums.c_sq; });
  pace.requests = count([](const Iteration& i) { return i.sums.generation_requests; });
  pace.busy_ms = median([](const Iteration& i) { return MillisOf(i.busy_ns); });
  std::vector<double> periods, between;
  for (const Iteration* one : of_phase) {
    if (!one->period_ns || *one->period_ns <= 0) continue;
    periods.push_back(MillisOf(*one->period_ns));
    between.push_back(MillisOf(*one->period_ns - (one->host.end - one->host.start)));
  }
  pace.periods = periods.size();
  if (!periods.empty()) {
    pace.period_ms = UpperMedian(std::move(periods));
    pace.between_ms = UpperMedian(std::move(between));
  }
  const double least = pace.period_ms.value_or(pace.busy_ms);
  if (pace.requests > 0 && least > 0)
    pace.per_second = static_cast<double>(pace.requests) * 1000 / least;
  return pace;
}

std::string IterationSentence(const std::vector<Iteration>& iterations) {
  const auto pace = PaceOf(iterations);
  if (!pace) return "";
  const std::string work = WorkOf(*pace);
  // Of one step that generates nothing no more is known than its length.
  if (work.empty() || pace->busy_ms <= 0 || (!pace->period_ms && !pace->per_second)) return "";
  const std::string rate = pace->per_second ? PerSecond(*pace->per_second) : std::string();
  if (pace->period_ms) {
    return Say(phrases::iteration::kPace, {{"phase", pace->phase},
                                           {"work", work},
                                           {"period", Ms(*pace->period_ms)},
                                           {"count", pace->periods},
                                           {"rate", rate},
                                           {"between", Ms(*pace->between_ms)}});
  }
  return Say(phrases::iteration::kSingle,
             {{"phase", pace->phase}, {"work", work}, {"busy", Ms(pace->busy_ms)}, {"rate", rate}});
}

}  // namespace jarvis::documents
