#include <fmt/format.h>

#include "base/text.h"
#include "output/csv_writer.h"
#include "query/database.h"
#include "tools/shared/arguments.h"
#include "tools/shared/category_choice.h"
#include "tools/trace/query_text.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kCellBytesMax = 200;

query::Catalogue CatalogueOf(session::Workspace& workspace, const session::LoadedTrace& trace,
                             const Json& arguments, Job& job) {
  const auto analysis =
      [&workspace, &arguments](Job& asking) -> Result<std::shared_ptr<const findings::Analysis>> {
    JV_ASSIGN(const AnalysisCase one, AnalyzeTrace(workspace, arguments, asking));
    return one.analysis;
  };
  return query::Catalogue(trace, analysis, job);
}

Cell CellOfValue(const query::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* text = std::get_if<std::string_view>(&value)) return ValidUtf8(*text);
  if (const auto* text = std::get_if<std::string>(&value)) return ValidUtf8(*text);
  return {};
}

query::Limits LimitsOf(const Json& arguments) {
  query::Limits limits;
  limits.time = std::chrono::milliseconds(
      static_cast<std::int64_t>(arguments.value("timeout_s", 10.0) * 1000));
  return limits;
}

// What can be asked, where nothing is.
Answer AnswerSchema(const std::string& trace_id) {
  Answer answer;
  answer.trace = trace_id;
  answer.summary = "Tables that SQL can ask; jarvis://query-schema says more.";
  answer.columns = {"table", "columns", "what"};
  for (const query::RelationInfo& relation : query::Schema()) {
    std::string columns;
    for (const query::AttributeInfo& one : relation.attributes)
      columns += (columns.empty() ? "" : " ") + std::string(one.name);
    answer.rows.push_back({std::string(relation.name), columns, std::string(relation.doc)});
  }
  answer.total = answer.rows.size();
  return answer;
}

}  // namespace

Result<Answer> Query(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  const auto sql = TextArgument(arguments, "sql");
  if (!sql) return AnswerSchema(trace->id());
  query::Catalogue catalogue = CatalogueOf(workspace, *trace, arguments, job);
  Answer answer;
  answer.trace = trace->id();
  const auto limit = arguments.at("limit").get<std::size_t>();
  const auto keep = [&](std::span<const query::Value> row) {
    if (answer.rows.size() == limit) return;
    std::vector<Cell>& cells = answer.rows.emplace_back();
    for (const query::Value& value : row) {
      Cell cell = CellOfValue(value);
      if (auto* text = std::get_if<std::string>(&cell))
        *text = jarvis::Shortened(OneLine(*text), kCellBytesMax);
      cells.push_back(std::move(cell));
    }
  };
  JV_ASSIGN(const query::Outcome outcome,
            query::Run(catalogue, *sql, LimitsOf(arguments), keep, job));
  answer.columns = outcome.columns;
  answer.total = outcome.rows;
  answer.summary = fmt::format("{}{} row{}.", outcome.complete ? "" : "More than ", outcome.rows,
                               outcome.rows == 1 ? "" : "s");
  return answer;
}

Result<std::string> QueryCsv(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  query::Catalogue catalogue = CatalogueOf(workspace, *trace, arguments, job);
  Table table;
  const auto keep = [&](std::span<const query::Value> row) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const query::Value& value : row)
      cells.push_back(CellOfValue(value));
  };
  JV_ASSIGN(query::Outcome outcome, query::Run(catalogue, arguments.value("sql", std::string()),
                                               LimitsOf(arguments), keep, job));
  if (!outcome.complete) {
    return Fail(ErrorCode::kTooLarge, fmt::format("the answer has more than {} rows", outcome.rows),
                "LIMIT and OFFSET take it in parts; jarvis export writes all tables");
  }
  table.columns = std::move(outcome.columns);
  return output::ToCsv(table);
}

Result<std::string> DatabaseOf(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  query::Catalogue catalogue = CatalogueOf(workspace, *trace, arguments, job);
  return query::Export(catalogue, job);
}

std::string QuerySchema() {
  return query::SchemaText();
}

}  // namespace jarvis::tools
