#include "analysis/ops_tables.h"

#include <algorithm>
#include <set>

#include "analysis/arg_text.h"
#include "analysis/group.h"
#include "analysis/kernel_cells.h"
#include "analysis/stats.h"
#include "table/py_text.h"

namespace jarvis::analysis {
namespace {

// Interned texts of a table's keys; ids in order of first appearance.
class Keys {
 public:
  explicit Keys(const TableInput& input) : in_(input) {}

  StringId Name(const Launcher& launcher) {
    if (launcher.op == kNoEvent)
      return pool_.Intern(LauncherName(in_.events, in_.attribution, launcher));
    return Cached(&names_, in_.events[launcher.op].name,
                  [&] { return std::string(in_.events.name(launcher.op)); });
  }
  StringId Category(const Launcher& launcher) { return pool_.Intern(launcher.category); }
  StringId Text(std::string_view text) { return pool_.Intern(text); }
  // An argument list as a tuple; kNoString if it was not recorded.
  StringId Arguments(StringId raw) {
    if (raw == kNoString) return kNoString;
    return Cached(&arguments_, raw, [&] { return TupleText(in_.events.strings[raw]); });
  }
  std::string_view operator[](StringId id) const { return pool_[id]; }
  Cell CellOf(StringId id) const { return id == kNoString ? Cell() : Cell(std::string(pool_[id])); }

 private:
  template <typename Make>
  StringId Cached(std::unordered_map<StringId, StringId>* cache, StringId id, Make make) {
    const auto [found, added] = cache->try_emplace(id, kNoString);
    if (added) found->second = pool_.Intern(make());
    return found->second;
  }

  const TableInput& in_;
  StringPool pool_;
  std::unordered_map<StringId, StringId> names_;
  std::unordered_map<StringId, StringId> arguments_;
};

std::vector<double> Column(const std::vector<std::vector<Cell>>& rows, std::size_t column) {
  std::vector<double> values;
  for (const auto& row : rows)
    values.push_back(std::get<double>(row[column]));
  return values;
}

// Appends each row's share of a column's sum, and the running share.
void AddPercentages(Table* table, std::size_t column) {
  const std::vector<double> values = Column(table->rows, column);
  const double total = PairwiseSum(values);
  double running = 0;
  table->columns.insert(table->columns.end(), {"Percentage (%)", "Cumulative Percentage (%)"});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Cell percent = total > 0 ? Cell(values[i] / total * 100) : Cell();
    running += total > 0 ? values[i] / total * 100 : 0;
    table->rows[i].push_back(percent);
    table->rows[i].push_back(total > 0 ? Cell(running) : Cell());
  }
}

// The largest first, by the rule for it.
void SortDescending(std::vector<std::vector<Cell>>* rows, std::size_t column,
                    const TableRules& rules) {
  std::vector<std::vector<Cell>> sorted;
  for (const std::size_t row : rules.descending(Column(*rows, column))) {
    sorted.push_back(std::move((*rows)[row]));
  }
  *rows = std::move(sorted);
}

// By name, and what is not recomputed first.
void SortByKeys(std::vector<std::vector<Cell>>* rows, bool with_flag) {
  std::stable_sort(rows->begin(), rows->end(), [&](const auto& a, const auto& b) {
    if (a[0] != b[0]) return std::get<std::string>(a[0]) < std::get<std::string>(b[0]);
    return with_flag && std::get<bool>(a[1]) < std::get<bool>(b[1]);
  });
}

std::vector<double> Values(const std::vector<Launcher>& launchers,
                           const std::vector<std::size_t>& rows, double Launcher::*value) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::size_t row : rows)
    values.push_back(launchers[row].*value);
  return values;
}

std::vector<std::string> KeyColumns(const TableInput& input, const char* name) {
  std::vector<std::string> columns = {name};
  if (input.recompute != nullptr) columns.emplace_back("is_recompute");
  return columns;
}

std::vector<Cell> KeyCells(const TableInput& input, std::string_view name, bool recomputed) {
  std::vector<Cell> cells = {std::string(name)};
  if (input.recompute != nullptr) cells.emplace_back(recomputed);
  return cells;
}

}  // namespace

std::string LauncherName(const EventStore& events, const Attribution& attribution,
                         const Launcher& launcher) {
  if (launcher.op != kNoEvent) return std::string(events.name(launcher.op));
  return "(unlinked) " + std::string(events.name(attribution.kernels[launcher.first]));
}

Table OpsSummaryByCategory(const TableInput& input) {
  const std::vector<Launcher>& launchers = input.attribution.launchers;
  Keys keys(input);
  Grouping<2> groups;
  for (std::size_t i = 0; i < launchers.size(); ++i) {
    groups.Add({keys.Category(launchers[i]), input.Recomputed(launchers[i].op)}, i);
  }
  Table table{"ops_summary_by_category", KeyColumns(input, "op category"), {}};
  const std::size_t first = table.columns.size();
  table.columns.insert(table.columns.end(), {"Count", "total_direct_kernel_time_ms"});
  for (const auto& group : groups.groups()) {
    const double sum = KahanSum(Values(launchers, group.rows, &Launcher::direct_us));
    table.rows.push_back(KeyCells(input, keys[group.key[0]], group.key[1] != 0));
    table.rows.back().insert(table.rows.back().end(),
                             {static_cast<std::int64_t>(group.rows.size()), sum / 1000});
  }
  SortByKeys(&table.rows, input.recompute != nullptr);
  SortDescending(&table.rows, first + 1, input.rules);
  AddPercentages(&table, first + 1);
  return table;
}

Table OpsSummary(const TableInput& input) {
  const std::vector<Launcher>& launchers = input.attribution.launchers;
  Keys keys(input);
  Grouping<2> groups;
  for (std::size_t i = 0; i < launchers.size(); ++i) {
    groups.Add({keys.Name(launchers[i]), input.Recomputed(launchers[i].op)}, i);
  }
  Table table{"ops_summary", KeyColumns(input, "name"), {}};
  const std::size_t first = table.columns.size();
  table.columns.insert(
      table.columns.end(),
      {"total_direct_kernel_time_sum", "total_subtree_kernel_time_sum",
       "total_direct_kernel_time_ms", "total_subtree_kernel_time_ms", "Count", "Categories"});
  for (const auto& group : groups.groups()) {
    const double direct = KahanSum(Values(launchers, group.rows, &Launcher::direct_us));
    const double subtree = KahanSum(Values(launchers, group.rows, &Launcher::subtree_us));
    std::set<std::string_view> categories;
    for (const std::size_t row : group.rows)
      categories.insert(launchers[row].category);
    std::string list;
    for (const std::string_view category : categories) {
      list.append(list.empty() ? "[" : ", ").append(PyString(category));
    }
    table.rows.push_back(KeyCells(input, keys[group.key[0]], group.key[1] != 0));
    table.rows.back().insert(table.rows.back().end(),
                             {direct, subtree, direct / 1000, subtree / 1000,
                              static_cast<std::int64_t>(group.rows.size()), list + "]"});
  }
  SortByKeys(&table.rows, input.recompute != nullptr);
  SortDescending(&table.rows, first, input.rules);
  AddPercentages(&table, first + 2);
  return table;
}

std::vector<UniqueArgsRow> GroupUniqueArgs(const TableInput& input) {
  const std::vector<Launcher>& launchers = input.attribution.launchers;
  Keys keys(input);
  Grouping<10> groups;
  for (std::size_t i = 0; i < launchers.size(); ++i) {
    const Launcher& launcher = launchers[i];
    const EventIndex e =
        launcher.op == kNoEvent ? input.attribution.kernels[launcher.first] : launcher.op;
    const trace::TrackNames& names = input.track_names[input.events[e].track];
    const trace::Args args = launcher.op == kNoEvent ? trace::Args() : input.events.args_of(e);
    groups.Add({keys.Name(launcher), keys.Category(launcher), keys.Text(names.process_name),
                keys.Text(names.process_label), keys.Text(names.thread_name),
                keys.Arguments(args.dims), keys.Arguments(args.types), keys.Arguments(args.strides),
                keys.Arguments(args.concrete), input.Recomputed(launcher.op)},
               i);
  }
  std::vector<UniqueArgsRow> rows;
  for (const auto& group : groups.groups()) {
    rows.push_back({group.rows, KahanSum(Values(launchers, group.rows, &Launcher::direct_us))});
  }
  const auto uid = [&](const UniqueArgsRow& row) {
    const Launcher& first = launchers[row.launchers[0]];
    return input.events[first.op == kNoEvent ? input.attribution.kernels[first.first] : first.op]
        .uid;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const UniqueArgsRow& a, const UniqueArgsRow& b) {
    return a.direct_us != b.direct_us ? a.direct_us > b.direct_us : uid(a) < uid(b);
  });
  return rows;
}

Table OpsUniqueArgs(const TableInput& input, const std::vector<UniqueArgsRow>& rows) {
  const std::vector<Launcher>& launchers = input.attribution.launchers;
  Keys keys(input);
  Table table{"ops_unique_args",
              {"name", "op category", "process_name", "process_label", "thread_name", "Input Dims",
               "Input type", "Input Strides", "Concrete Inputs"},
              {}};
  if (input.recompute != nullptr) table.columns.emplace_back("is_recompute");
  table.columns.emplace_back("operation_count");
  for (const char* stat : {"mean", "median", "std", "min", "max", "sum"}) {
    table.columns.push_back(std::string("total_direct_kernel_time_") + stat);
    table.columns.push_back(std::string("total_subtree_kernel_time_") + stat);
  }
  const std::size_t sum_column = table.columns.size() - 2;
  table.columns.insert(table.columns.end(),
                       {"ex_UID", "kernel_details_summary", "trunc_kernel_details"});
  for (const UniqueArgsRow& row : rows) {
    const Launcher& first = launchers[row.launchers[0]];
    const EventIndex e = first.op == kNoEvent ? input.attribution.kernels[first.first] : first.op;
    const trace::TrackNames& names = input.track_names[input.events[e].track];
    const trace::Args args = first.op == kNoEvent ? trace::Args() : input.events.args_of(e);
    std::vector<Cell> cells = {LauncherName(input.events, input.attribution, first),
                               std::string(first.category),
                               names.process_name,
                               names.process_label,
                               names.thread_name,
                               keys.CellOf(keys.Arguments(args.dims)),
                               keys.CellOf(keys.Arguments(args.types)),
                               keys.CellOf(keys.Arguments(args.strides)),
                               keys.CellOf(keys.Arguments(args.concrete))};
    if (input.recompute != nullptr) cells.emplace_back(input.Recomputed(first.op));
    cells.emplace_back(static_cast<std::int64_t>(row.launchers.size()));
    const Moments d = GroupMoments(Values(launchers, row.launchers, &Launcher::direct_us));
    const Moments s = GroupMoments(Values(launchers, row.launchers, &Launcher::subtree_us));
    cells.insert(cells.end(), {d.mean, s.mean, d.median, s.median, jarvis::CellOf(d.std),
                               jarvis::CellOf(s.std), d.min, s.min, d.max, s.max, d.sum, s.sum,
                               static_cast<std::int64_t>(input.events[e].uid)});
    std::vector<std::span<const EventIndex>> calls;
    for (const std::size_t i : row.launchers)
      calls.push_back(input.attribution.KernelsOf(launchers[i]));
    const std::vector<KernelCell> kernels = SummarizeKernels(input.events, calls, input.rules);
    cells.insert(cells.end(), {KernelSummaryText(kernels), KernelShortText(kernels)});
    table.rows.push_back(std::move(cells));
  }
  AddPercentages(&table, sum_column);
  return table;
}

}  // namespace jarvis::analysis
