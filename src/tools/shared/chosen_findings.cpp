#include "tools/shared/chosen_findings.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "query/database.h"
#include "session/trace_simulation.h"
#include "tools/shared/category_choice.h"
#include "tools/shared/change_arguments.h"

namespace jarvis::tools {
namespace {

// A figure is worked out of the tables: a number that is only written down is none.
bool AsksTables(std::string_view sql) {
  const auto relations = query::Schema();
  return std::any_of(relations.begin(), relations.end(), [&](const query::RelationInfo& relation) {
    return ContainsNoCase(sql, relation.name);
  });
}

std::optional<double> NumberOf(const query::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

}  // namespace

Status ReadAddedChange(const ChosenQuestion& question, findings::Addition* addition, Job& job) {
  addition->changes.clear();
  addition->change.clear();
  if (addition->asked.empty() || !question.analysis.wall.known) return {};
  JV_ASSIGN(const auto simulation, session::SimulationOf(question.trace, job));
  JV_ASSIGN(Json changes, ParseJson(addition->asked));
  Json arguments = question.arguments;
  arguments["changes"] = std::move(changes);
  JV_ASSIGN(const std::vector<NamedChange> named,
            ReadChanges(question.workspace, question.trace, *simulation, arguments, job));
  for (const NamedChange& one : named) {
    if (one.finding) {
      return Fail(ErrorCode::kBadValue, "add: a finding is no change of another one",
                  "name rows, kernels or host time");
    }
    addition->change += (addition->change.empty() ? "" : "; ") + OneLine(ValidUtf8(one.text));
    addition->changes.insert(addition->changes.end(), one.changes.begin(), one.changes.end());
  }
  return {};
}

Status WorkOut(const ChosenQuestion& question, findings::DerivedFigure* figure, Job& job) {
  figure->value.reset();
  if (!AsksTables(figure->sql)) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("derive: \"{}\" asks no table", Utf8Prefix(figure->name, 60)),
                "one SELECT over the tables of query");
  }
  const auto analysis = [&](Job& asking) -> Result<std::shared_ptr<const findings::Analysis>> {
    JV_ASSIGN(const AnalysisCase one, AnalyzeTrace(question.workspace, question.arguments, asking));
    return one.analysis;
  };
  query::Catalogue catalogue(question.trace, analysis, job);
  std::optional<double> value;
  std::size_t columns = 0;
  JV_ASSIGN(const query::Outcome outcome, query::Run(
                                              catalogue, figure->sql, {},
                                              [&](std::span<const query::Value> row) {
                                                columns = row.size();
                                                if (columns == 1) value = NumberOf(row[0]);
                                              },
                                              job));
  if (outcome.rows != 1 || columns != 1 || !value) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("derive: \"{}\" has {} rows for an answer, expected one number",
                            Utf8Prefix(figure->name, 60), outcome.rows),
                "one SELECT with one column and one row");
  }
  figure->value = value;
  return {};
}

Status ReadChosen(const ChosenQuestion& question, findings::FindingChoices* choices,
                  std::vector<std::string>* dropped, Job& job) {
  for (findings::Addition& one : choices->added) {
    const Status read = ReadAddedChange(question, &one, job);
    JV_TRY(job.Check());
    if (!read) {
      dropped->push_back(fmt::format("the change of {}: {}", one.id, read.error().message));
    }
  }
  for (findings::DerivedFigure& one : choices->derived) {
    const Status worked_out = WorkOut(question, &one, job);
    JV_TRY(job.Check());
    if (!worked_out) dropped->push_back(worked_out.error().message);
  }
  return {};
}

}  // namespace jarvis::tools
