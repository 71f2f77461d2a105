#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "formats/json_parts.h"
#include "sweep/measure/measure.h"
#include "tools/shared/arguments.h"
#include "tools/sweep/parts.h"
#include "tools/sweep/sweep_tools.h"

namespace jarvis::tools {
namespace {

std::string LaunchText(const sweep::ConfigFacts& config) {
  std::map<sweep::LaunchShape, double> launches;
  for (const sweep::RankFacts& rank : config.ranks) {
    for (const auto& [shape, us] : rank.launches)
      launches[shape] += us;
  }
  std::string text;
  std::size_t shown = 0;
  for (const auto& [shape, us] : launches) {
    if (++shown > 4) return text + ", ...";
    text += fmt::format("{}{}x{}", text.empty() ? "" : ", ", shape.channels, shape.threads);
  }
  return text;
}

Json Versions(const sweep::SweepFacts& facts) {
  Json versions = Json::object();
  for (const sweep::ConfigFacts& config : facts.configs) {
    for (const sweep::RankFacts& rank : config.ranks) {
      for (const auto& [name, value] : rank.versions) {
        const auto found = versions.find(name);
        if (found == versions.end())
          versions[name] = value;
        else if (*found != value)
          versions[name] = "mixed";
      }
    }
  }
  return versions;
}

std::string Device(const sweep::SweepFacts& facts) {
  for (const sweep::ConfigFacts& config : facts.configs) {
    for (const sweep::RankFacts& rank : config.ranks) {
      if (!rank.device.empty()) return rank.device;
    }
  }
  return {};
}

}  // namespace

Result<Answer> SweepScan(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const sweep::SweepFacts facts,
            MeasureSweepOf(workspace, arguments, job, /*tables=*/false));
  Answer answer;
  std::size_t traces = 0;
  std::uint64_t bytes = 0;
  for (const sweep::Config& config : facts.sweep.configs) {
    traces += config.traces.size();
    for (const sweep::TraceFile& file : config.traces)
      bytes += file.bytes;
  }
  std::string axes;
  for (const std::string& axis : facts.sweep.axes)
    axes += (axes.empty() ? "" : " x ") + axis;
  answer.summary = fmt::format("{}: {} configurations ({}), {} traces, {}.", facts.sweep.name,
                               facts.sweep.configs.size(), axes, traces,
                               facts.complete() ? "complete" : "not complete");
  answer.columns = {"config", "ranks", "missing", "steps", "launched", "rocprof", "complete"};
  for (std::size_t c = 0; c < facts.configs.size(); ++c) {
    const sweep::ConfigFacts& config = facts.configs[c];
    std::size_t steps = 0;
    for (const sweep::RankFacts& rank : config.ranks)
      steps = std::max(steps, rank.steps);
    const std::string launched = LaunchText(config);
    answer.rows.push_back({facts.sweep.configs[c].label,
                           static_cast<std::int64_t>(config.ranks.size()),
                           config.set == nullptr || config.set->missing.empty()
                               ? Cell()
                               : Cell(analysis::RankList(config.set->missing)),
                           config.ranks.empty() ? Cell() : Cell(static_cast<std::int64_t>(steps)),
                           launched.empty() ? Cell() : Cell(launched),
                           facts.sweep.configs[c].rocprof, config.complete});
  }
  answer.total = answer.rows.size();
  answer.facts = {{"complete", facts.complete()},
                  {"path", facts.sweep.path},
                  {"axes", formats::TextList(facts.sweep.axes)},
                  {"traces", traces},
                  {"bytes", bytes},
                  {"device", formats::TextOrNull(Device(facts))},
                  {"versions", Versions(facts)},
                  {"other", formats::TextList(facts.sweep.other)},
                  {"warnings", WarningsJson(facts.warnings)}};
  answer.notes.emplace_back(
      "launched: channels x threads of the collective kernels as they ran, whatever the "
      "directories say");
  AddMoreWarnings(facts.warnings, "sweep_pipeline lists them in sweep_warnings.csv", &answer);
  answer.next = {{"sweep_pipeline", {{"sweep_dir", facts.sweep.path}}, "all tables of the sweep"}};
  return answer;
}

}  // namespace jarvis::tools
