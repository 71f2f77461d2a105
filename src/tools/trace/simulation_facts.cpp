#include "tools/trace/simulation_facts.h"

#include <span>

#include <fmt/format.h>

#include "analysis/simulation/path_shares.h"
#include "output/number_format.h"
#include "session/trace_bound.h"
#include "session/trace_simulation.h"
#include "session/trace_trust.h"
#include "tools/shared/arguments.h"
#include "trace/how_to_record.h"

namespace jarvis::tools {

using output::Rounded;

Json SimulationFacts(const analysis::Simulation& simulation) {
  const analysis::SimulationQuality& quality = simulation.quality();
  Json facts = {{"wall_ms", Rounded(quality.wall_ms)},
                {"replay_error_percent", Rounded(quality.replay_error_percent)},
                {"matched_waits_percent", Rounded(quality.matched_waits_percent)},
                {"opaque_percent", Rounded(quality.opaque_percent)},
                {"host_floor_ms", Rounded(simulation.host_floor_ms())},
                {"gpu_floor_ms", Rounded(simulation.gpu_floor_ms())}};
  if (quality.unrecorded_percent > 0) {
    facts["unrecorded_percent"] = Rounded(quality.unrecorded_percent);
  }
  if (quality.silent_percent > 0) facts["silent_percent"] = Rounded(quality.silent_percent);
  return facts;
}

std::vector<std::string> SimulationNotes(const analysis::Simulation& simulation) {
  const analysis::SimulationQuality& quality = simulation.quality();
  std::vector<std::string> notes;
  if (!quality.refusal.empty()) notes.push_back("no wall times after changes: " + quality.refusal);
  if (!quality.range_only.empty()) notes.push_back("ranges only: " + quality.range_only);
  if (quality.clock_shift_us != 0) {
    notes.push_back(fmt::format("GPU times were moved by about {} µs: the two clocks disagreed",
                                Rounded(quality.clock_shift_us)));
  }
  if (quality.hidden_waits > 0) {
    notes.push_back(
        fmt::format("{} stretches of silence of the host are taken for waits for the "
                    "GPU that no recorded call shows",
                    quality.hidden_waits));
  }
  return notes;
}

void ExplainNothingToSimulate(const session::LoadedTrace& trace, Answer* answer) {
  answer->summary =
      "There is nothing to simulate: the trace has no GPU work, or no calls that launch it.";
  answer->notes = {trace::RecordGpuWork(trace.trace().metadata)};
}

namespace {

std::string_view BoundWords(ledger::BoundKind kind) {
  return kind == ledger::BoundKind::kInTurns ? "bound by host and GPU in turns"
                                             : BoundKindText(kind);
}

// A collective on the path is no computing: it may be a wait for another rank. Empty: few are.
std::string CollectivesText(const analysis::RecordedWork& recorded,
                            std::span<const analysis::PathStep> path, double total_us) {
  constexpr double kWorthTelling = 5;  // percent
  double us = 0;
  for (const analysis::PathStep& step : path) {
    if (step.event == trace::kNoEvent || ClassOf(step) != analysis::PathClass::kGpu) continue;
    const std::uint32_t work = recorded.WorkAt(step.event);
    if (work != analysis::kNoPlace && recorded.works[work].collective) us += step.us();
  }
  const double percent = Percent(us, total_us).value_or(0);
  if (percent < kWorthTelling) return {};
  return fmt::format(", {:.0f} % in collectives, which wait for other ranks as well", percent);
}

}  // namespace

Result<std::string> BoundSentence(const session::LoadedTrace& trace,
                                  const analysis::TimeFrames& frames, const Job& job) {
  JV_ASSIGN(const auto simulation, session::SimulationOf(trace, job));
  if (simulation->empty() || !simulation->quality().refusal.empty()) return std::string();
  JV_ASSIGN(const auto cost, session::ProfilingCostOf(trace, job));
  std::vector<analysis::Change> made;
  std::vector<analysis::HostCost> pauses = analysis::FramePauses(*cost);
  const bool without_pauses = !pauses.empty();
  if (without_pauses) made.emplace_back(analysis::RemoveProfilerCost{std::move(pauses)});
  const auto path =
      StepsWithin(simulation->recorded(), simulation->CriticalPath(made), frames.base.base);
  analysis::PathShares shares = analysis::SharesOf(path);
  shares.us[static_cast<std::size_t>(analysis::PathClass::kUnrecorded)] = 0;
  JV_ASSIGN(const ledger::StepBound bound, session::BoundOf(trace, job));
  if (bound.kind == ledger::BoundKind::kUnknown || shares.Total() <= 0) return std::string();
  return fmt::format("{} {} is {}: {} (critical path: {}){}.",
                     without_pauses ? "Without the profiler's pauses the" : "The",
                     frames.steps.empty() ? "recording" : "step", BoundWords(bound.kind),
                     bound.because, SharesText(shares),
                     CollectivesText(simulation->recorded(), path, shares.Total()));
}

}  // namespace jarvis::tools
