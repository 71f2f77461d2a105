#include "analysis/frames/iterations.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/frames/engine_iterations.h"

namespace jarvis::analysis {
namespace {

double IterationMs(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

void AddGpuWork(const FrameFacts& facts, std::int64_t until, Iteration* one) {
  const auto first = std::partition_point(
      facts.launched.begin(), facts.launched.end(),
      [&](const LaunchedWork& work) { return work.launch_ns < one->host.start; });
  TimeSet spans;
  for (auto work = first; work != facts.launched.end() && work->launch_ns < until; ++work) {
    const trace::Event& event = facts.events[work->event];
    spans.push_back({event.ts_ns, event.end_ns()});
    ++one->gpu_events;
  }
  if (spans.empty()) return;
  spans = Union(std::move(spans));
  one->gpu = TimeSpan{spans.front().start, spans.back().end};
  one->busy_ns = Length(spans);
}

std::vector<Iteration> RepeatsOf(const std::string& name, std::vector<TimeSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const TimeSpan& a, const TimeSpan& b) { return a.start < b.start; });
  std::vector<Iteration> repeats;
  for (const TimeSpan& span : spans) {
    Iteration& one = repeats.emplace_back();
    one.name = name;
    one.host = span;
  }
  return repeats;
}

// The part of that name with the most host time, if that is most of it all. The first of several
// may stand apart, because it differs.
std::vector<Iteration> RepeatedPart(const Phases& phases) {
  constexpr std::size_t kSeveral = 3;
  std::map<std::string, std::int64_t> host_ns;
  std::map<std::string, std::vector<TimeSpan>> spans;
  std::int64_t all_ns = 0;
  for (const Phase& phase : phases.phases) {
    if (phase.level != 0) continue;
    all_ns += phase.host_ns;
    if (phase.kind == PhaseKind::kWait || phase.kind == PhaseKind::kBetween) continue;
    host_ns[phase.name] += phase.host_ns;
    std::vector<TimeSpan>& known = spans[phase.name];
    known.insert(known.end(), phase.spans.begin(), phase.spans.end());
  }
  for (auto& [name, of_name] : spans) {
    if (of_name.size() >= kSeveral && 2 * host_ns[name] > all_ns)
      return RepeatsOf(name, std::move(of_name));
  }
  return {};
}

}  // namespace

std::vector<Iteration> FindRepeats(const FrameFacts& facts, const TimeFrames& frames,
                                   const Phases& phases) {
  std::vector<Iteration> repeats;
  if (frames.steps.size() > 1) {
    for (const StepFrame& step : frames.steps) {
      Iteration& one = repeats.emplace_back();
      one.name = step.name;
      one.host = step.host;
      one.steady = step.steady;
    }
  } else {
    repeats = RepeatedPart(phases);
  }
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const bool last = i + 1 == repeats.size();
    AddGpuWork(facts, last ? repeats[i].host.end : repeats[i + 1].host.start, &repeats[i]);
    if (!last) repeats[i].period_ns = repeats[i + 1].host.start - repeats[i].host.start;
  }
  return repeats;
}

std::vector<Iteration> FindIterations(const FrameFacts& facts) {
  std::vector<Iteration> iterations;
  for (const NamedIteration& named : EngineIterations(facts)) {
    if (named.diffusion) continue;
    const trace::Event& annotation = facts.events[named.annotation];
    Iteration& one = iterations.emplace_back();
    one.name = facts.events.name(named.annotation);
    one.sums = named.sums;
    one.host = {annotation.ts_ns, annotation.end_ns()};
  }
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const bool last = i + 1 == iterations.size();
    Iteration& one = iterations[i];
    if (!last) one.period_ns = iterations[i + 1].host.start - one.host.start;
    AddGpuWork(facts, last ? facts.recording.end + 1 : iterations[i + 1].host.start, &one);
  }
  return iterations;
}

Table IterationsTable(const std::vector<Iteration>& iterations) {
  Table table{
      "iterations",
      {"iteration", "phase", "start_ms", "context_requests", "context_tokens",
       "generation_requests", "generation_tokens", "cached_tokens", "host_ms", "gpu_window_ms",
       "gpu_busy_ms", "gpu_events", "period_ms", "between_ms", "generated_per_s"},
      {}};
  const auto if_any = [](std::int64_t n) { return n > 0 ? Cell(n) : Cell(); };
  for (const Iteration& one : iterations) {
    const perf::IterationSums& sums = one.sums;
    const bool period = one.period_ns && *one.period_ns > 0;
    const auto if_gpu = [&](std::int64_t ns) { return one.gpu ? Cell(IterationMs(ns)) : Cell(); };
    table.rows.push_back(
        {one.name, std::string(perf::PhaseOf(sums)),
         IterationMs(one.host.start - iterations.front().host.start), sums.context_requests,
         sums.c_sq, sums.generation_requests, sums.g_sq, if_any(sums.c_sk + sums.g_sk),
         IterationMs(one.host.end - one.host.start),
         one.gpu ? Cell(IterationMs(one.gpu->end - one.gpu->start)) : Cell(), if_gpu(one.busy_ns),
         static_cast<std::int64_t>(one.gpu_events),
         period ? Cell(IterationMs(*one.period_ns)) : Cell(),
         period ? Cell(IterationMs(*one.period_ns - (one.host.end - one.host.start))) : Cell(),
         period && sums.generation_requests > 0
             ? Cell(static_cast<double>(sums.generation_requests) * 1e9 /
                    static_cast<double>(*one.period_ns))
             : Cell()});
  }
  return table;
}

}  // namespace jarvis::analysis
