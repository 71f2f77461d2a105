#include "sweep/judge/describe_sweep.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sweep/judge/comms.h"
#include "sweep/judge/plot_data.h"
#include "sweep/judge/recommend.h"
#include "sweep/judge/timeline.h"

namespace jarvis::sweep {
namespace {

std::string DateIn(const std::string& name) {
  // sweep_YYYYMMDD_HHMMSS
  for (std::size_t at = 0; at + 15 <= name.size(); ++at) {
    const std::string_view part = std::string_view(name).substr(at, 15);
    const auto digits = [](std::string_view text) {
      return text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (digits(part.substr(0, 8)) && part[8] == '_' && digits(part.substr(9))) {
      return fmt::format("{}-{}-{} {}:{}:{}", part.substr(0, 4), part.substr(4, 2),
                         part.substr(6, 2), part.substr(9, 2), part.substr(11, 2),
                         part.substr(13, 2));
    }
  }
  return {};
}

void Provenance(const SweepFacts& facts, PageSweep* shown) {
  const auto add = [&](const char* name, std::string text) {
    if (!text.empty()) shown->provenance.emplace_back(name, std::move(text));
  };
  add("Date", DateIn(facts.sweep.name));
  std::set<std::string> devices;
  std::map<std::string, std::set<std::string>> versions;
  std::set<std::size_t> ranks;
  std::set<std::size_t> steps;
  std::size_t traces = 0;
  for (const ConfigFacts& config : facts.configs) {
    if (config.ranks.empty()) continue;
    ranks.insert(config.ranks.size());
    for (const RankFacts& rank : config.ranks) {
      ++traces;
      steps.insert(rank.steps);
      if (!rank.device.empty()) devices.insert(rank.device);
      for (const auto& [name, value] : rank.versions)
        versions[name].insert(value);
    }
  }
  const auto joined = [](const std::set<std::string>& texts) {
    std::string all;
    for (const std::string& one : texts)
      all += (all.empty() ? "" : ", ") + one;
    return all;
  };
  add("GPU", joined(devices));
  for (const auto& [name, values] : versions)
    add(name.c_str(), joined(values));
  std::string grid;
  for (std::size_t a = 0; a < facts.sweep.axes.size(); ++a) {
    std::vector<std::string> values;
    for (const Config& config : facts.sweep.configs) {
      const std::string& text = config.values[a].text;
      if (std::find(values.begin(), values.end(), text) == values.end()) values.push_back(text);
    }
    if (!grid.empty()) grid += "; ";
    grid += facts.sweep.axes[a] + " ";
    for (std::size_t i = 0; i < values.size(); ++i)
      grid += (i == 0 ? "" : ", ") + values[i];
  }
  add("Configurations", grid);
  const auto range = [](const std::set<std::size_t>& numbers) {
    if (numbers.empty()) return std::string();
    return *numbers.begin() == *numbers.rbegin()
               ? std::to_string(*numbers.begin())
               : fmt::format("{} to {}", *numbers.begin(), *numbers.rbegin());
  };
  add("Ranks a run", range(ranks));
  add("Profiler steps", range(steps));
  add("Traces read", std::to_string(traces));
}

void AddBest(const SweepFacts& facts, PageSweep* shown) {
  constexpr std::pair<Objective, const char*> kObjectives[] = {
      {Objective::kStepTime, "step time"},
      {Objective::kExposedComm, "exposed communication"},
      {Objective::kGemmStability, "GEMM slowdown"}};
  for (const auto& [objective, name] : kObjectives) {
    const Recommendation found = Recommend(facts, objective, {});
    if (found.ranked.empty() || !found.ranked.front().score) continue;
    const Candidate& best = found.ranked.front();
    PageBest line{
        name, ConfigText(facts.sweep, facts.sweep.configs[best.metrics.config]),
        fmt::format("{:.3f} {}", *best.score, objective == Objective::kGemmStability ? "%" : "ms"),
        fmt::format("confidence {}", ConfidenceName(found.confidence))};
    if (!found.why.empty()) line.note += ": " + found.why.front();
    shown->best.push_back(std::move(line));
    if (objective != Objective::kStepTime) continue;
    for (const Candidate& one : found.ranked) {
      if (one.pareto)
        shown->pareto.push_back(ConfigText(facts.sweep, facts.sweep.configs[one.metrics.config]));
    }
  }
  double least = 0;
  std::string config;
  for (const ConfigMetrics& one : MetricsOfConfigs(facts)) {
    if (!one.gemm_us || (!config.empty() && *one.gemm_us >= least)) continue;
    least = *one.gemm_us;
    config = ConfigText(facts.sweep, facts.sweep.configs[one.config]);
  }
  if (!config.empty())
    shown->best.push_back({"mean GEMM launch", config, fmt::format("{:.3f} µs", least), ""});
  const auto stragglers = Stragglers(facts, nullptr);
  if (stragglers.size() > 1) {
    shown->best.push_back({"straggler", fmt::format("rank {}", stragglers.front().rank),
                           fmt::format("{:.0f} %", stragglers.front().last_share),
                           "of the collectives it arrives last in"});
  }
}

}  // namespace

PageSweep DescribeSweep(const SweepFacts& facts, const std::string& label, bool other_work) {
  PageSweep shown;
  shown.label = label;
  shown.path = facts.sweep.path;
  shown.complete = facts.complete();
  Provenance(facts, &shown);
  for (const Warning& one : facts.warnings) {
    shown.warnings.push_back(
        {one.config, one.rank ? std::to_string(*one.rank) : "", one.file, one.code, one.message});
  }
  if (other_work) {
    shown.warnings.push_back({"", "", "", "WORK_DIFFERS",
                              "its ranks run other GEMM work than the baseline's: times of steps "
                              "are not held against it"});
  }
  AddBest(facts, &shown);
  shown.plots = PlotDataOf(facts);
  return shown;
}

}  // namespace jarvis::sweep
