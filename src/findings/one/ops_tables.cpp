#include "findings/one/ops_tables.h"

#include <algorithm>
#include <iterator>

#include "analysis/tables/unified_table.h"
#include "analysis/tables/work_tables.h"
#include "findings/one/replayed_calls.h"
#include "session/category_names.h"
#include "session/trace_work.h"

namespace jarvis::findings {

Result<std::map<std::string, Table>> OpsTables(const session::LoadedTrace& recorded,
                                               const perf::Platform* platform,
                                               const std::shared_ptr<const perf::ModelRows>& models,
                                               const Job& job) {
  // Of the calls that the analysis is of.
  const session::LoadedTrace& trace = recorded.WithCapture();
  JV_ASSIGN(const std::shared_ptr<const session::TraceWork> work,
            session::WorkOf(trace, models, job));
  const bool replays = HasReplays(trace, work->calls);
  const std::vector<analysis::WorkCall> split =
      replays ? SplitReplays(trace, work->calls) : std::vector<analysis::WorkCall>();
  const std::vector<analysis::WorkCall>& calls = replays ? split : work->calls;
  std::map<std::string, Table> out;
  if (calls.empty()) return out;
  analysis::TableRules rules;
  rules.models = &work->rows();
  const analysis::TableInput input{trace.events(), trace.track_names(),
                                   work->attribution ? *work->attribution : trace.attribution(),
                                   rules};
  analysis::WorkTableOptions options;
  options.metrics.platform = platform;
  options.call_stacks = true;
  options.parent = [&](trace::EventIndex e) { return trace.tree().parent(e); };
  Table all = analysis::UnifiedPerfSummary(input, calls, options);
  JV_TRY(job.Check());
  const auto column = static_cast<std::size_t>(
      std::find(all.columns.begin(), all.columns.end(), "op category") - all.columns.begin());
  for (std::vector<Cell>& row : all.rows) {
    const auto* text = std::get_if<std::string>(&row[column]);
    const std::string category = text == nullptr ? std::string() : *text;
    const std::string key = session::CategoryKey(category);
    Table& table = out[key];
    if (table.columns.empty()) {
      table.name = key + "_ops";
      table.columns = all.columns;
      table.columns.insert(table.columns.end(), {"enhanced_category", "display_name"});
    }
    // A row that is lengthened in place would take twice what it needs.
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells.reserve(row.size() + 2);
    std::move(row.begin(), row.end(), std::back_inserter(cells));
    cells.emplace_back(key);
    cells.emplace_back(category.empty() ? std::string("Other") : category);
    row = {};
  }
  return out;
}

}  // namespace jarvis::findings
