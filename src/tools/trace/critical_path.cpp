#include <fmt/format.h>

#include "analysis/simulation/path_shares.h"
#include "base/text.h"
#include "output/number_format.h"
#include "session/trace_simulation.h"
#include "tools/shared/arguments.h"
#include "tools/trace/simulation_facts.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using analysis::PathClass;
using analysis::PathShares;
using analysis::PathStep;

void ShowParts(const PathShares& shares, Answer* answer) {
  answer->columns = {"part", "ms", "percent"};
  for (std::size_t c = 0; c < analysis::kPathClasses; ++c) {
    if (shares.us[c] <= 0) continue;
    answer->rows.push_back({std::string(PathClassText(static_cast<PathClass>(c))),
                            shares.us[c] / 1000, shares.PercentOf(static_cast<PathClass>(c))});
  }
  answer->total = answer->rows.size();
}

void ShowOps(const session::LoadedTrace& trace, const analysis::Simulation& simulation,
             std::span<const PathStep> path, double total_us, std::size_t limit, Answer* answer) {
  answer->columns = {"op", "ms", "percent", "host_ms", "gpu_ms", "wait_ms"};
  const auto owners = OwnersOf(trace.events(), trace.attribution(), simulation.recorded(), path);
  for (std::size_t i = 0; i < owners.size() && i < limit; ++i) {
    const analysis::PathOwner& owner = owners[i];
    const std::string name =
        owner.name.empty() ? "(outside ops and frames)" : std::string(Utf8Prefix(owner.name, 100));
    answer->rows.push_back({OneLine(name), owner.us() / 1000, CellOf(Percent(owner.us(), total_us)),
                            owner.host_us / 1000, owner.gpu_us / 1000, owner.wait_us / 1000});
  }
  answer->total = owners.size();
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

}  // namespace

Result<Answer> CriticalPath(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(const auto simulation, session::SimulationOf(*trace, job));
  Answer answer;
  answer.trace = trace->id();
  if (simulation->empty()) {
    ExplainNothingToSimulate(&answer);
    return answer;
  }
  const std::string by = arguments.at("by").get<std::string>();
  const auto limit = arguments.at("limit").get<std::size_t>();
  const std::vector<PathStep> path = simulation->CriticalPath();
  const PathShares shares = analysis::SharesOf(path);
  answer.summary = fmt::format("{} ms of wall time, {}.",
                               output::Rounded(simulation->quality().wall_ms), BoundText(shares));
  answer.facts = SimulationFacts(*simulation);
  if (by == "part") ShowParts(shares, &answer);
  if (by == "op") ShowOps(*trace, *simulation, path, shares.Total(), limit, &answer);
  if (by == "time") ShowStretches(path, limit, &answer);
  answer.notes = SimulationNotes(*simulation);
  answer.next = {{"what_if",
                  {{"trace", trace->id()}, {"changes", {{{"row", "op1"}, {"factor", 0.5}}}}},
                  "what a change would save in wall time"}};
  return answer;
}

}  // namespace jarvis::tools
