#include "analysis/tables/ops_tables.h"

#include <algorithm>
#include <set>

#include "analysis/attribution/group.h"
#include "analysis/attribution/kernel_cells.h"
#include "analysis/attribution/stats.h"
#include "analysis/tables/table_parts.h"
#include "table/py_text.h"

namespace jarvis::analysis {
namespace {

// Interned texts of a table's keys; ids in order of first appearance.
class Keys {
 public:
  explicit Keys(const TableInput& input) : in_(input), arguments_(input.events) {}

  StringId Name(const Launcher& launcher) {
    if (launcher.op == kNoEvent || !in_.attribution.pseudo.empty())
      return pool_.Intern(LauncherName(in_.events, in_.attribution, launcher));
    return Cached(&names_, in_.events[launcher.op].name,
                  [&] { return std::string(in_.events.name(launcher.op)); });
  }
  StringId Category(const Launcher& launcher) {
    return pool_.Intern(in_.attribution.CategoryOf(launcher));
  }
  StringId Text(std::string_view text) { return pool_.Intern(text); }
  StringId Module(std::size_t launcher) {
    if (in_.modules == nullptr) return kNoString;
    return pool_.Intern(in_.modules->texts[in_.modules->of[launcher].parent]);
  }
  // An argument list as a tuple; kNoString if it was not recorded.
  StringId Arguments(StringId raw) { return arguments_.Of(raw); }
  Cell ArgumentsCell(StringId raw) { return arguments_.CellOf(arguments_.Of(raw)); }
  std::string_view operator[](StringId id) const { return pool_[id]; }

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
  ArgumentTexts arguments_;
};

std::vector<double> Column(const std::vector<std::vector<Cell>>& rows, std::size_t column) {
  std::vector<double> values;
  for (const auto& row : rows)
    values.push_back(std::get<double>(row[column]));
  return values;
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

// By the keys: name, module, and what is not recomputed first.
void SortByKeys(std::vector<std::vector<Cell>>* rows, std::size_t keys) {
  std::stable_sort(rows->begin(), rows->end(), [&](const auto& a, const auto& b) {
    const auto end = static_cast<std::ptrdiff_t>(keys);
    return std::lexicographical_compare(a.begin(), a.begin() + end, b.begin(), b.begin() + end);
  });
}

std::vector<double> Values(std::span<const Launcher> launchers,
                           const std::vector<std::size_t>& rows, double Launcher::*value) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::size_t row : rows)
    values.push_back(launchers[row].*value);
  return values;
}

std::vector<std::string> KeyColumns(const TableInput& input, const char* name) {
  std::vector<std::string> columns = {name};
  if (input.modules != nullptr) columns.emplace_back("parent_module");
  if (input.recompute != nullptr) columns.emplace_back("is_recompute");
  return columns;
}

// What keeps the rows of a summary apart: a name, a module, whether they are recomputed.
using SummaryGroups = Grouping<3>;

std::vector<Cell> KeyCells(const TableInput& input, const Keys& keys,
                           const SummaryGroups::Key& key) {
  std::vector<Cell> cells = {std::string(keys[key[0]])};
  if (input.modules != nullptr) cells.emplace_back(std::string(keys[key[1]]));
  if (input.recompute != nullptr) cells.emplace_back(key[2] != 0);
  return cells;
}

std::string CategoryList(const Attribution& attribution, const std::vector<std::size_t>& rows) {
  std::set<std::string_view> categories;
  for (const std::size_t row : rows)
    categories.insert(attribution.CategoryOf(attribution.launchers[row]));
  std::string list;
  for (const std::string_view category : categories)
    list.append(list.empty() ? "[" : ", ").append(PyString(category));
  return list + "]";
}

// The event that stands for a launcher: the op, or the kernel if it is unlinked.
EventIndex EventOf(const TableInput& input, const Launcher& launcher) {
  return launcher.op == kNoEvent ? input.attribution.kernels[launcher.first] : launcher.op;
}

trace::Args ArgsOf(const TableInput& input, const Launcher& launcher) {
  return launcher.op == kNoEvent ? trace::Args() : input.OpArgs(launcher.op);
}

class UniqueArgsTable {
 public:
  UniqueArgsTable(const TableInput& input, const UniqueArgsOptions& options)
      : in_(input),
        options_(options),
        launchers_(input.attribution.launchers),
        keys_(input),
        with_overlap_(options.overlaps != nullptr) {}

  Table Make(const std::vector<UniqueArgsRow>& rows) {
    Table table{with_overlap_ ? "ops_unique_args_kl_overlap" : "ops_unique_args", Columns(), {}};
    const auto sum_column = static_cast<std::size_t>(
        std::find(table.columns.begin(), table.columns.end(), "total_direct_kernel_time_sum") -
        table.columns.begin());
    table.rows.reserve(rows.size());
    for (const UniqueArgsRow& row : rows) {
      std::vector<Cell>& cells = table.rows.emplace_back();
      cells.reserve(table.columns.size() + kPercentageColumns);
      FillRow(row, &cells);
    }
    AddPercentages(&table, sum_column);
    return table;
  }

 private:
  std::vector<std::string> Columns() const {
    std::vector<std::string> columns = {"name"};
    if (with_overlap_) columns.emplace_back("overlapping_kernel_names");
    columns.emplace_back("op category");
    if (in_.modules != nullptr) columns.emplace_back("parent_module");
    columns.insert(columns.end(), {"process_name", "process_label", "thread_name", "Input Dims",
                                   "Input type", "Input Strides", "Concrete Inputs"});
    if (options_.num_kernels) columns.emplace_back("num_kernels");
    if (in_.recompute != nullptr) columns.emplace_back("is_recompute");
    columns.emplace_back("operation_count");
    if (options_.first_occurrence_time) columns.emplace_back("first_occurrence_time");
    for (const char* stat : {"mean", "median", "std", "min", "max", "sum"}) {
      columns.push_back(std::string("total_direct_kernel_time_") + stat);
      columns.push_back(std::string("total_subtree_kernel_time_") + stat);
    }
    columns.emplace_back("ex_UID");
    if (in_.modules != nullptr) columns.emplace_back("call_stack");
    columns.insert(columns.end(), {"kernel_details_summary", "trunc_kernel_details"});
    if (with_overlap_) {
      const std::vector<std::string> more = OverlapColumns();
      columns.insert(columns.end(), more.begin(), more.end());
    }
    return columns;
  }

  // Launchers stand in order of their start.
  Cell FirstOccurrence(const UniqueArgsRow& row) const {
    const EventIndex origin = EventOf(in_, launchers_[0]);
    const EventIndex first =
        EventOf(in_, launchers_[*std::min_element(row.launchers.begin(), row.launchers.end())]);
    if (in_.rules.clock == Clock::kDoubleMicros) {
      return in_.events.ts_us(first) - in_.events.ts_us(origin);
    }
    return trace::MicrosOf(in_.events[first].ts_ns - in_.events[origin].ts_ns);
  }

  void AddKeys(const UniqueArgsRow& row, std::vector<Cell>* cells) {
    const std::size_t at = row.launchers[0];
    const Launcher& first = launchers_[at];
    const trace::TrackNames& names = in_.track_names[in_.events[EventOf(in_, first)].track];
    const trace::Args args = ArgsOf(in_, first);
    cells->emplace_back(LauncherName(in_.events, in_.attribution, first));
    if (with_overlap_) {
      const std::string text = (*options_.overlaps)[at].NamesText();
      cells->push_back(text.empty() ? Cell() : Cell(text));
    }
    cells->emplace_back(std::string(in_.attribution.CategoryOf(first)));
    if (in_.modules != nullptr) cells->push_back(in_.ParentModuleOf(at));
    cells->insert(cells->end(),
                  {names.process_name, names.process_label, names.thread_name,
                   keys_.ArgumentsCell(args.dims), keys_.ArgumentsCell(args.types),
                   keys_.ArgumentsCell(args.strides), keys_.ArgumentsCell(args.concrete)});
    if (options_.num_kernels) cells->emplace_back(static_cast<std::int64_t>(first.count));
    if (in_.recompute != nullptr) cells->emplace_back(in_.Recomputed(first.op));
  }

  void FillRow(const UniqueArgsRow& row, std::vector<Cell>* out) {
    const std::size_t at = row.launchers[0];
    std::vector<Cell>& cells = *out;
    AddKeys(row, &cells);
    cells.emplace_back(static_cast<std::int64_t>(row.launchers.size()));
    if (options_.first_occurrence_time) cells.push_back(FirstOccurrence(row));
    const Moments d = GroupMoments(Values(launchers_, row.launchers, &Launcher::direct_us));
    const Moments s = GroupMoments(Values(launchers_, row.launchers, &Launcher::subtree_us));
    cells.insert(cells.end(), {d.mean, s.mean, d.median, s.median, jarvis::CellOf(d.std),
                               jarvis::CellOf(s.std), d.min, s.min, d.max, s.max, d.sum, s.sum,
                               static_cast<std::int64_t>(in_.OpUid(EventOf(in_, launchers_[at])))});
    if (in_.modules != nullptr) cells.push_back(in_.ModuleStackOf(at));
    std::vector<std::span<const EventIndex>> calls;
    for (const std::size_t i : row.launchers)
      calls.push_back(in_.attribution.KernelsOf(launchers_[i]));
    const std::vector<KernelCell> kernels = SummarizeKernels(in_.events, calls, in_.rules);
    cells.emplace_back(KernelSummaryText(kernels));
    cells.emplace_back(KernelShortText(kernels));
    if (with_overlap_) AddOverlap(row, &cells);
  }

  void AddOverlap(const UniqueArgsRow& row, std::vector<Cell>* cells) const {
    std::vector<const Overlap*> overlaps;
    for (const std::size_t i : row.launchers)
      overlaps.push_back(&(*options_.overlaps)[i]);
    for (Cell& cell :
         OverlapCells(overlaps, {.share_of_first_call = in_.rules.skip_deviating_kernel_lists}))
      cells->push_back(std::move(cell));
  }

  const TableInput& in_;
  const UniqueArgsOptions& options_;
  std::span<const Launcher> launchers_;
  Keys keys_;
  bool with_overlap_;
};

}  // namespace

std::string LauncherName(const EventStore& events, const Attribution& attribution,
                         const Launcher& launcher) {
  if (launcher.op != kNoEvent) return std::string(attribution.pseudo.NameOf(events, launcher.op));
  return "(unlinked) " + std::string(events.name(attribution.kernels[launcher.first]));
}

LauncherModules FindModules(const EventStore& events, const Attribution& attribution,
                            const ParentFunction& parent) {
  LauncherModules modules;
  modules.of.reserve(attribution.launchers.size());
  for (const Launcher& launcher : attribution.launchers) {
    const std::string name = LauncherName(events, attribution, launcher);
    const std::vector<std::string> stack = launcher.op == kNoEvent
                                               ? std::vector{name}
                                               : ModuleStack(events, launcher.op, name, parent);
    modules.of.push_back(
        {modules.texts.Intern(ParentModule(stack)), modules.texts.Intern(ListText(stack))});
  }
  return modules;
}

Table OpsSummaryByCategory(const TableInput& input) {
  std::span<const Launcher> launchers = input.attribution.launchers;
  Keys keys(input);
  SummaryGroups groups;
  for (std::size_t i = 0; i < launchers.size(); ++i) {
    groups.Add({keys.Category(launchers[i]), keys.Module(i), input.Recomputed(launchers[i].op)}, i);
  }
  Table table{"ops_summary_by_category", KeyColumns(input, "op category"), {}};
  const std::size_t key_columns = table.columns.size();
  table.columns.emplace_back("Count");
  if (input.modules != nullptr) table.columns.emplace_back("call_stack_first");
  const std::size_t sum_column = table.columns.size();
  table.columns.emplace_back("total_direct_kernel_time_ms");
  for (const auto& group : groups.groups()) {
    std::vector<Cell> cells = KeyCells(input, keys, group.key);
    cells.emplace_back(static_cast<std::int64_t>(group.rows.size()));
    if (input.modules != nullptr) cells.push_back(input.ModuleStackOf(group.rows[0]));
    cells.emplace_back(KahanSum(Values(launchers, group.rows, &Launcher::direct_us)) / 1000);
    table.rows.push_back(std::move(cells));
  }
  SortByKeys(&table.rows, key_columns);
  SortDescending(&table.rows, sum_column, input.rules);
  AddPercentages(&table, sum_column);
  return table;
}

Table OpsSummary(const TableInput& input) {
  std::span<const Launcher> launchers = input.attribution.launchers;
  Keys keys(input);
  SummaryGroups groups;
  for (std::size_t i = 0; i < launchers.size(); ++i) {
    groups.Add({keys.Name(launchers[i]), keys.Module(i), input.Recomputed(launchers[i].op)}, i);
  }
  Table table{"ops_summary", KeyColumns(input, "name"), {}};
  const std::size_t first = table.columns.size();
  const auto add_columns = [&](std::initializer_list<const char*> names) {
    table.columns.insert(table.columns.end(), names.begin(), names.end());
  };
  add_columns({"total_direct_kernel_time_sum", "total_subtree_kernel_time_sum"});
  if (input.inference) add_columns({"total_subtree_kernel_time_count"});
  const std::size_t ms_column = table.columns.size();
  add_columns({"total_direct_kernel_time_ms"});
  if (!input.inference) add_columns({"total_subtree_kernel_time_ms"});
  add_columns({"Count", "Categories"});
  if (input.modules != nullptr) add_columns({"call_stack_first"});
  for (const auto& group : groups.groups()) {
    const double direct = KahanSum(Values(launchers, group.rows, &Launcher::direct_us));
    const double subtree = KahanSum(Values(launchers, group.rows, &Launcher::subtree_us));
    const auto count = static_cast<std::int64_t>(group.rows.size());
    std::vector<Cell> cells = KeyCells(input, keys, group.key);
    cells.insert(cells.end(), {direct, subtree});
    if (input.inference) cells.emplace_back(count);
    cells.emplace_back(direct / 1000);
    if (!input.inference) cells.emplace_back(subtree / 1000);
    cells.insert(cells.end(), {count, CategoryList(input.attribution, group.rows)});
    if (input.modules != nullptr) cells.push_back(input.ModuleStackOf(group.rows[0]));
    table.rows.push_back(std::move(cells));
  }
  SortByKeys(&table.rows, first);
  SortDescending(&table.rows, first, input.rules);
  AddPercentages(&table, ms_column);
  return table;
}

std::vector<UniqueArgsRow> GroupUniqueArgs(const TableInput& input,
                                           const UniqueArgsOptions& options) {
  std::span<const Launcher> launchers = input.attribution.launchers;
  Keys keys(input);
  Grouping<13> groups;
  for (std::size_t i = 0; i < launchers.size(); ++i) {
    const Launcher& launcher = launchers[i];
    const EventIndex e = EventOf(input, launcher);
    const trace::TrackNames& names = input.track_names[input.events[e].track];
    const trace::Args args = ArgsOf(input, launcher);
    groups.Add(
        {keys.Name(launcher), keys.Category(launcher), keys.Text(names.process_name),
         keys.Text(names.process_label), keys.Text(names.thread_name), keys.Arguments(args.dims),
         keys.Arguments(args.types), keys.Arguments(args.strides), keys.Arguments(args.concrete),
         input.Recomputed(launcher.op), keys.Module(i), options.num_kernels ? launcher.count : 0,
         options.overlaps == nullptr ? 0 : keys.Text((*options.overlaps)[i].NamesText())},
        i);
  }
  std::vector<UniqueArgsRow> rows;
  for (const auto& group : groups.groups()) {
    rows.push_back({group.rows, KahanSum(Values(launchers, group.rows, &Launcher::direct_us))});
  }
  const auto uid = [&](const UniqueArgsRow& row) {
    return input.OpUid(EventOf(input, launchers[row.launchers[0]]));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const UniqueArgsRow& a, const UniqueArgsRow& b) {
    return a.direct_us != b.direct_us ? a.direct_us > b.direct_us : uid(a) < uid(b);
  });
  return rows;
}

Table OpsUniqueArgs(const TableInput& input, const std::vector<UniqueArgsRow>& rows,
                    const UniqueArgsOptions& options) {
  return UniqueArgsTable(input, options).Make(rows);
}

}  // namespace jarvis::analysis
