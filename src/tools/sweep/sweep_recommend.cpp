#include <fmt/format.h>

#include "formats/json_parts.h"
#include "sweep/judge/recommend.h"
#include "tools/shared/arguments.h"
#include "tools/sweep/parts.h"
#include "tools/sweep/sweep_tools.h"

namespace jarvis::tools {

Result<Answer> SweepRecommend(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const sweep::SweepFacts facts, MeasureSweepOf(workspace, arguments, job));
  const auto objective = sweep::ObjectiveOf(arguments.at("objective").get<std::string>()).value();
  sweep::Weights weights;
  if (arguments.contains("weights")) {
    const Json& given = arguments.at("weights");
    weights = {given.value("step_time", 0.0), given.value("exposed_comm", 0.0),
               given.value("gemm_stability", 0.0)};
  }
  const sweep::Recommendation found = sweep::Recommend(facts, objective, weights);
  Answer answer;
  answer.columns = MetricColumns();
  for (const char* column : {"pareto", "vs_first_pct", "within_noise"})
    answer.columns.emplace_back(column);
  Json ranked = Json::array();
  for (const sweep::Candidate& one : found.ranked) {
    std::vector<Cell> row = MetricCells(facts, one.metrics);
    row.emplace_back(one.pareto);
    row.push_back(one.against_best ? Cell(one.against_best->percent) : Cell());
    row.push_back(one.against_best ? Cell(!one.against_best->significant) : Cell());
    answer.rows.push_back(std::move(row));
    if (!one.reasons.empty()) {
      ranked.push_back({{"config", facts.sweep.configs[one.metrics.config].label},
                        {"reasons", formats::TextList(one.reasons)}});
    }
  }
  answer.total = answer.rows.size();
  std::string best;
  if (!found.ranked.empty() && found.ranked.front().score)
    best = facts.sweep.configs[found.ranked.front().metrics.config].label;
  const std::string straggler = StragglerText(facts);
  answer.summary = fmt::format(
      "{} by {} (confidence {}){}.", best.empty() ? "No configuration can be recommended" : best,
      sweep::ObjectiveName(objective), sweep::ConfidenceName(found.confidence),
      straggler.empty() ? "" : "; " + straggler);
  answer.facts = {{"complete", facts.complete()},
                  {"best", formats::TextOrNull(best)},
                  {"objective", sweep::ObjectiveName(objective)},
                  {"confidence", sweep::ConfidenceName(found.confidence)},
                  {"why", formats::TextList(found.why)},
                  {"reasons", std::move(ranked)},
                  {"warnings", WarningsJson(facts.warnings)}};
  AddMoreWarnings(facts.warnings, "sweep_pipeline lists them in sweep_warnings.csv", &answer);
  return answer;
}

}  // namespace jarvis::tools
