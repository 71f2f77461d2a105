#include <algorithm>

#include <fmt/format.h>

#include "analysis/simulation/path_shares.h"
#include "base/text.h"
#include "output/number_format.h"
#include "session/trace_frames.h"
#include "session/trace_simulation.h"
#include "tools/shared/arguments.h"
#include "tools/trace/simulation_facts.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using analysis::PathClass;
using analysis::PathShares;
using analysis::PathSplit;
using analysis::PathStep;

struct PathQuestion {
  std::string by;
  std::size_t limit;
  double total_us;  // of the path
};

void ShowParts(const PathShares& shares, Answer* answer) {
  answer->columns = {"part", "ms", "percent"};
  for (std::size_t c = 0; c < analysis::kPathClasses; ++c) {
    if (shares.us[c] <= 0) continue;
    answer->rows.push_back({std::string(PathClassText(static_cast<PathClass>(c))),
                            shares.us[c] / 1000, shares.PercentOf(static_cast<PathClass>(c))});
  }
  answer->total = answer->rows.size();
}

// "(outside modules)" and the like: what no name has.
std::string OwnerName(const std::string& name, std::string_view none) {
  return name.empty() ? std::string(none) : OneLine(std::string(Utf8Prefix(name, 100)));
}

std::vector<Cell> SplitCells(const PathSplit& split, double total_us) {
  return {split.us() / 1000, CellOf(Percent(split.us(), total_us)), split.host_us / 1000,
          split.gpu_us / 1000, split.wait_us / 1000};
}

void ShowOwners(const session::LoadedTrace& trace, const analysis::Simulation& simulation,
                std::span<const PathStep> path, const PathQuestion& asked, Answer* answer) {
  const bool by_module = asked.by == "module";
  if (by_module && !trace.recorded().modules) {
    answer->notes.emplace_back(
        "no modules are recorded (with_modules=True or Python stacks): by=phase and by=op tell "
        "parts apart");
    return;
  }
  answer->columns = {asked.by, "ms", "percent", "host_ms", "gpu_ms", "wait_ms"};
  const auto owners =
      OwnersOf(trace.events(), trace.tree(), trace.attribution(), simulation.recorded(), path,
               by_module ? analysis::PathOwnership::kModule : analysis::PathOwnership::kOp);
  for (std::size_t i = 0; i < owners.size() && i < asked.limit; ++i) {
    std::vector<Cell> row = {
        OwnerName(owners[i].name, by_module ? "(outside modules)" : "(outside ops and frames)")};
    for (Cell& cell : SplitCells(owners[i], asked.total_us))
      row.push_back(std::move(cell));
    answer->rows.push_back(std::move(row));
  }
  answer->total = owners.size();
}

// The parts of a step, as ops_summary by=phase has them: those within another stand below it.
void ShowPhases(const analysis::Phases& phases, const analysis::RecordedWork& recorded,
                std::span<const PathStep> path, const PathQuestion& asked, Answer* answer) {
  if (phases.phases.empty()) {
    answer->notes.push_back("no phases: " + phases.reason);
    return;
  }
  answer->columns = {"phase", "ms", "percent", "host_ms", "gpu_ms", "wait_ms"};
  const auto split_of = [&](int level) {
    std::vector<analysis::PartSpan> spans;
    for (std::size_t i = 0; i < phases.phases.size(); ++i) {
      if (phases.phases[i].level != level) continue;
      for (const analysis::TimeSpan& span : phases.phases[i].spans)
        spans.push_back({{span.start, span.end}, i});
    }
    std::sort(spans.begin(), spans.end(),
              [](const auto& a, const auto& b) { return a.ns.start < b.ns.start; });
    return SplitPath(recorded, path, spans, phases.phases.size());
  };
  const std::vector<PathSplit> outer = split_of(0);
  const std::vector<PathSplit> inner = split_of(1);
  const auto add = [&](std::string name, const PathSplit& split) {
    if (split.us() <= 0) return;
    ++answer->total;
    if (answer->rows.size() >= asked.limit) return;
    std::vector<Cell> row = {std::move(name)};
    for (Cell& cell : SplitCells(split, asked.total_us))
      row.push_back(std::move(cell));
    answer->rows.push_back(std::move(row));
  };
  for (std::size_t i = 0; i < phases.phases.size(); ++i) {
    const bool within = phases.phases[i].level > 0;
    add((within ? "- " : "") + OneLine(phases.phases[i].name), within ? inner[i] : outer[i]);
  }
  add("(outside these)", outer.back());
  answer->notes.emplace_back(
      "GPU work counts for the phase that launched it; rows with \"-\" are within the row above");
}

void ShowStretches(std::span<const PathStep> path, std::size_t limit, Answer* answer) {
  constexpr std::size_t kParts = 200;
  answer->columns = {"bound_by", "start_ms", "ms", "percent_of_it"};
  const auto stretches = analysis::StretchesOf(path, kParts);
  for (std::size_t i = 0; i < stretches.size() && i < limit; ++i) {
    const analysis::PathStretch& one = stretches[i];
    answer->rows.push_back({std::string(PathClassText(one.prevails)), one.begin_us / 1000,
                            (one.end_us - one.begin_us) / 1000,
                            one.shares.PercentOf(one.prevails)});
  }
  answer->total = stretches.size();
}

// The longest path says what bounds the time, not how far that is from the next bound.
std::string FloorNote(const analysis::Simulation& simulation, const PathShares& shares) {
  constexpr double kNear = 0.5;  // of the wall time
  const auto& quality = simulation.quality();
  const bool by_gpu = shares.PercentOf(PathClass::kGpu) > shares.PercentOf(PathClass::kHost);
  const double floor_ms = by_gpu ? simulation.host_floor_ms() : simulation.gpu_floor_ms();
  if (floor_ms < kNear * quality.wall_ms) return {};
  const double floor = output::Rounded(floor_ms);
  const double wall = output::Rounded(quality.wall_ms);
  if (by_gpu) {
    return fmt::format(
        "with no GPU work at all the host would still take {} of {} ms (host_floor_ms): what GPU "
        "work is saved shows down to there, and below it only if launches go as well",
        floor, wall);
  }
  return fmt::format(
      "with a host that takes no time the GPU work would still take {} of {} ms (gpu_floor_ms): "
      "what host time is saved shows down to there",
      floor, wall);
}

}  // namespace

Result<Answer> CriticalPath(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(const auto simulation, session::SimulationOf(*trace, job));
  Answer answer;
  answer.trace = trace->id();
  if (simulation->empty()) {
    ExplainNothingToSimulate(*trace, &answer);
    return answer;
  }
  const std::vector<PathStep> path = simulation->CriticalPath();
  const PathShares shares = analysis::SharesOf(path);
  answer.summary = fmt::format("{} ms of wall time; its critical path is {}.",
                               output::Rounded(simulation->quality().wall_ms), SharesText(shares));
  answer.facts = SimulationFacts(*simulation);
  answer.notes = SimulationNotes(*simulation);
  JV_ASSIGN(const auto frames, session::FramesOf(*trace, job));
  JV_ASSIGN(const std::string bound, BoundSentence(*trace, frames->frames, job));
  if (!bound.empty()) answer.notes.push_back("this is the whole recording, as it was. " + bound);
  if (std::string note = FloorNote(*simulation, shares); !note.empty())
    answer.notes.push_back(std::move(note));
  const PathQuestion asked = {arguments.at("by").get<std::string>(),
                              arguments.at("limit").get<std::size_t>(), shares.Total()};
  if (asked.by == "part") ShowParts(shares, &answer);
  if (asked.by == "op" || asked.by == "module")
    ShowOwners(*trace, *simulation, path, asked, &answer);
  if (asked.by == "time") ShowStretches(path, asked.limit, &answer);
  if (asked.by == "phase") ShowPhases(frames->phases, simulation->recorded(), path, asked, &answer);
  answer.next = {{"what_if",
                  {{"trace", trace->id()}, {"changes", {{{"row", "op1"}, {"factor", 0.5}}}}},
                  "what a change would save in wall time"}};
  return answer;
}

}  // namespace jarvis::tools
