#include "analysis/join/compare_sheets.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/tables/family_table.h"
#include "analysis/tables/work_tables.h"
#include "base/check.h"

namespace jarvis::analysis {
namespace {

using Names = std::vector<std::string>;

const Names kSignature = {"name", "Input type", "Input Dims", "Input Strides", "Concrete Inputs"};
const Names kFurtherKeys = {"is_recompute", "parent_module", "num_kernels"};
const Names kKernelTimes = {"Kernel duration (µs)_sum", "Kernel duration (µs)_mean",
                            "Kernel duration (µs)_count"};
const Names kFamilyTimes = {"Kernel Time (µs)_sum", "Kernel Time (µs)_mean", "name_count",
                            "TFLOPS/s_mean", "TB/s_mean"};
// What only repeats the baseline's: the work of the same call, and its arguments.
const Names kFamilyDrops = {"GFLOPS_first",         "Data Moved (MB)_first", "FLOPS/Byte_first",
                            "Input Dims_first",     "Input type_first",      "Input Strides_first",
                            "Concrete Inputs_first"};
const Names kReferenceFamilies = {"GEMM",     "SDPA_fwd",         "SDPA_bwd",         "CONV_fwd",
                                  "CONV_bwd", "UnaryElementwise", "BinaryElementwise"};

std::string ShortFamily(const std::string& family) {
  if (family == "UnaryElementwise") return "un_eltwise";
  if (family == "BinaryElementwise") return "bin_eltwise";
  return family;
}

const Table* TableOf(const ReportTables& report, const std::string& name) {
  for (const Table& table : report.tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

// Out of the report, which no longer has it. REQUIRES: it has it.
Table Take(ReportTables& report, const std::string& name) {
  const auto found = std::find_if(report.tables.begin(), report.tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  JV_CHECK(found != report.tables.end());
  Table taken = std::move(*found);
  report.tables.erase(found);
  return taken;
}

// Names of families become names of files.
bool IsPlain(const std::string& name) {
  constexpr std::size_t kNameMax = 40;
  return !name.empty() && name.size() <= kNameMax &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

bool IsFamily(const Table& table) {
  return IsPlain(table.name) && ColumnOf(table, "name") != std::string::npos &&
         ColumnOf(table, "name_count") != std::string::npos &&
         ColumnOf(table, "Kernel Time (µs)_sum") != std::string::npos;
}

bool AllHave(const std::vector<TaggedTable>& tables, const std::string& column) {
  return std::all_of(tables.begin(), tables.end(), [&](const TaggedTable& tagged) {
    return ColumnOf(tagged.table, column) != std::string::npos;
  });
}

class Comparison {
 public:
  Comparison(std::vector<ReportTables> reports, const SheetChoice& choice,
             const CompareRules& rules)
      : reports_(std::move(reports)), choice_(choice), rules_(rules) {}

  Result<ComparedSheets> Run() {
    if (choice_.gpu_timeline) JV_TRY(Timeline());
    if (choice_.ops_summary) JV_TRY(OpsSummary());
    if (choice_.kernel_summary) JV_TRY(KernelSummary());
    if (choice_.ops_all) {
      for (const char* name : {"ops_unique_args", "ops_all"})
        JV_TRY(Signatures(name, "total_direct_kernel_time_sum", "total_direct_kernel_time_mean"));
      JV_TRY(Signatures("unified_perf_summary", "Kernel Time (µs)_sum", "Kernel Time (µs)_mean"));
    }
    if (choice_.roofline) {
      for (const std::string& family : Families())
        JV_TRY(Family(family));
    }
    if (choice_.collectives && rules_.collectives) JV_TRY(Collectives());
    if (out_.tables.empty() && choice_.all) {
      return Fail(ErrorCode::kBadValue, "the reports have no sheet in common that can be compared",
                  "make both with the same options: jarvis perf_report TRACE --output-dir DIR");
    }
    return std::move(out_);
  }

 private:
  // The sheet of every report; empty if it is not to be compared. `required`: by the reference,
  // which refuses reports without it when it is named; of all sheets those are compared that all
  // reports have.
  Result<std::vector<TaggedTable>> Collect(const std::string& name, bool required,
                                           const std::string& key) {
    std::vector<TaggedTable> tables;
    Names missing;
    for (const ReportTables& report : reports_) {
      const Table* table = TableOf(report, name);
      const bool there = table != nullptr && ColumnOf(*table, key) != std::string::npos;
      // A table without columns is an empty one.
      if (!there && (table == nullptr || !table->columns.empty())) missing.push_back(report.tag);
    }
    for (ReportTables& report : reports_) {
      if (missing.empty()) tables.push_back({report.tag, Take(report, name)});
    }
    if (missing.empty()) {
      if (rules_.skip_missing) NameColumns(&tables);
      return tables;
    }
    const bool nowhere = missing.size() == reports_.size();
    const bool of_baseline = missing.front() == reports_.front().tag;
    if (nowhere && !required) return std::vector<TaggedTable>();
    const std::string what = fmt::format("{}: not in {}", name, fmt::join(missing, ", "));
    if (!choice_.all && !rules_.skip_missing && (required || !of_baseline)) {
      return Fail(ErrorCode::kBadValue, what, "name the sheets that all reports have");
    }
    if (!nowhere || !choice_.all) out_.notes.push_back(what + ", so it is not compared");
    return std::vector<TaggedTable>();
  }

  // An empty table may have no columns: it gets those of the others.
  static void NameColumns(std::vector<TaggedTable>* tables) {
    const TaggedTable* like = nullptr;
    for (const TaggedTable& tagged : *tables) {
      if (like == nullptr && !tagged.table.columns.empty()) like = &tagged;
    }
    if (like == nullptr) return;
    const Names columns = like->table.columns;
    for (TaggedTable& tagged : *tables) {
      if (tagged.table.columns.empty()) tagged.table.columns = columns;
    }
  }

  static void Drop(const Names& everywhere, const Names& in_variants,
                   std::vector<TaggedTable>* tables) {
    for (std::size_t t = 0; t < tables->size(); ++t) {
      DropColumns(everywhere, &(*tables)[t].table);
      if (t > 0) DropColumns(in_variants, &(*tables)[t].table);
    }
  }

  Status AddWhole(const std::string& name, std::vector<TaggedTable> tables, const JoinSpec& spec) {
    JV_ASSIGN(Joined joined, Join(std::move(tables), spec, rules_.join));
    if (!spec.sort.empty()) SortDescending(joined.tags[0], spec.sort, &joined.table);
    joined.table.name = name;
    out_.tables.push_back(std::move(joined.table));
    return {};
  }

  Status Timeline() {
    JV_ASSIGN(auto tables, Collect("gpu_timeline", true, "type"));
    if (tables.empty()) return {};
    JoinSpec spec{{"type"}, {"time ms"}, ""};
    // A report that keeps recomputed work apart has two blocks of the same rows.
    if (rules_.further_keys && AllHave(tables, "is_recompute")) spec.keys.push_back("is_recompute");
    return AddWhole("gpu_timeline", std::move(tables), spec);
  }

  Status OpsSummary() {
    JV_ASSIGN(auto tables, Collect("ops_summary", true, "name"));
    if (tables.empty()) return {};
    Drop({"total_direct_kernel_time_sum"}, {"Cumulative Percentage (%)"}, &tables);
    JoinSpec spec{
        {"name"}, {"total_direct_kernel_time_ms", "Count"}, "total_direct_kernel_time_ms"};
    AddFurtherKeys(tables, &spec);
    return AddWhole("ops_summary", std::move(tables), spec);
  }

  Status KernelSummary() {
    const Table* first = TableOf(reports_.front(), "kernel_summary");
    if (first != nullptr && ColumnOf(*first, "Kernel name") == std::string::npos) return Legacy();
    JV_ASSIGN(auto tables, Collect("kernel_summary", true, "Kernel name"));
    if (tables.empty()) return {};
    JoinSpec spec{{"Kernel name"}, kKernelTimes, kKernelTimes[0]};
    Names drops = {"Kernel duration (µs)_min", "Kernel duration (µs)_max"};
    const Names cumulative = {"Cumulative Percentage (%)"};
    if (!rules_.kernels_by_op) {
      drops.push_back("Parent op category");
      Drop(drops, cumulative, &tables);
    } else {
      Drop(drops, cumulative, &tables);
      for (const char* key : {"Parent cpu_op", "Parent op category"}) {
        if (AllHave(tables, key)) spec.keys.emplace_back(key);
      }
      for (TaggedTable& tagged : tables)
        AddStreams(spec.keys, &tagged.table);
    }
    return AddWhole("kernel_summary", std::move(tables), spec);
  }

  // One row per kernel and op, of all streams: streams have other numbers on other devices.
  static void AddStreams(const Names& keys, Table* table) {
    DropColumns({"Kernel stream"}, table);
    *table = AddUp(*table, keys,
                   {kKernelTimes[0], kKernelTimes[2], "Percent of kernels time (%)",
                    "Percent of total time (%)"});
    const std::size_t sum = ColumnOf(*table, kKernelTimes[0]);
    const std::size_t mean = ColumnOf(*table, kKernelTimes[1]);
    const std::size_t count = ColumnOf(*table, kKernelTimes[2]);
    if (sum == std::string::npos || mean == std::string::npos || count == std::string::npos) return;
    for (std::vector<Cell>& row : table->rows) {
      const auto time = NumberOf(row[sum]);
      const auto calls = NumberOf(row[count]);
      row[mean] = time && calls && *calls > 0 ? Cell(*time / *calls) : Cell();
    }
  }

  Status Legacy() {
    JV_ASSIGN(auto tables, Collect("kernel_summary", true, "name"));
    if (tables.empty()) return {};
    Drop({"Total Kernel Time (µs)", "Median Kernel Time (µs)", "Std Kernel Time (µs)",
          "Min Kernel Time (µs)", "Max Kernel Time (µs)", "Category"},
         {"Cumulative Percentage (%)"}, &tables);
    return AddWhole("kernel_summary", std::move(tables),
                    {{"name"},
                     {"Total Kernel Time (ms)", "Mean Kernel Time (µs)", "Count"},
                     "Total Kernel Time (ms)"});
  }

  void AddFurtherKeys(const std::vector<TaggedTable>& tables, JoinSpec* spec) const {
    if (!rules_.further_keys) return;
    for (const std::string& key : kFurtherKeys) {
      if (AllHave(tables, key)) spec->keys.push_back(key);
    }
  }

  Status AddSplit(const std::string& name, std::vector<TaggedTable> tables, const JoinSpec& spec) {
    JV_ASSIGN(Joined joined, Join(std::move(tables), spec, rules_.join));
    for (Table& table : SplitByPresence(std::move(joined), name, rules_.join))
      out_.tables.push_back(std::move(table));
    return {};
  }

  Status Signatures(const std::string& name, const char* sum, const char* mean) {
    JV_ASSIGN(auto tables, Collect(name, false, "name"));
    if (tables.empty()) return {};
    JoinSpec spec;
    // Traces without recorded arguments have reports without these columns.
    for (const std::string& key : kSignature) {
      if (!rules_.skip_missing || AllHave(tables, key)) spec.keys.push_back(key);
    }
    spec.compared = {sum, mean, "operation_count"};
    spec.sort = sum;
    AddFurtherKeys(tables, &spec);
    return AddSplit(name, std::move(tables), spec);
  }

  Names Families() const {
    if (!rules_.all_families) return kReferenceFamilies;
    std::set<std::string> found;
    for (const ReportTables& report : reports_) {
      for (const Table& table : report.tables) {
        if (IsFamily(table)) found.insert(table.name);
      }
    }
    Names names;
    for (const std::string_view family : FamilyOrder()) {
      if (found.erase(std::string(family)) > 0) names.emplace_back(family);
    }
    names.insert(names.end(), found.begin(), found.end());
    return names;
  }

  // Of each table what the runs are told apart by and what is compared.
  Status Collectives() {
    const std::pair<const char*, JoinSpec> sheets[] = {
        {"nccl_summary_implicit_sync",
         {{"Collective name", "dtype", "In msg nelems", "Process Group Name", "Group size"},
          {"Total comm latency (ms)", "comm_latency_mean", "skew in start time_mean",
           "bus bw (GB/s)_mean", "count"},
          "Total comm latency (ms)"}},
        {"nccl_summary_long",
         {{"rank", "Collective name", "dtype", "In msg nelems", "Process Group Name", "Group size"},
          {"dur_sum", "dur_mean", "operation_count"},
          "dur_sum"}},
        {"rank_summary",
         {{"rank"},
          {"communication (ms)", "wait in collectives (ms)", "transfer in collectives (ms)"},
          ""}},
        {"ledger",
         {{"rank"},
          {"unit (ms)", "base (ms)", "GPU busy (ms)", "computation (ms)",
           "exposed communication (ms)", "idle by the host (ms)", "host alone (ms)"},
          ""}},
        // Steps of two runs have other numbers, so the first is compared with the first.
        {"fleet_steps",
         {{"place"},
          {"median length (ms)", "median own time (ms)", "median exposed communication (ms)"},
          ""}},
        {"fleet_kernels",
         {{"kernel"}, {"median of ranks (ms)", "median count"}, "median of ranks (ms)"}}};
    for (const auto& [name, spec] : sheets) {
      JV_ASSIGN(auto tables, Collect(name, false, spec.keys.front()));
      if (tables.empty()) continue;
      for (TaggedTable& tagged : tables) {
        Names others;
        for (const std::string& column : tagged.table.columns) {
          const auto is = [&](const Names& names) {
            return std::find(names.begin(), names.end(), column) != names.end();
          };
          if (!is(spec.keys) && !is(spec.compared)) others.push_back(column);
        }
        DropColumns(others, &tagged.table);
      }
      JV_TRY(AddWhole(name, std::move(tables), spec));
    }
    return {};
  }

  // A family that a trace has no calls of has no table in its report.
  Result<std::vector<TaggedTable>> CollectFamily(const std::string& family) {
    if (!rules_.skip_missing) return Collect(family, false, "name");
    std::vector<TaggedTable> tables;
    for (ReportTables& report : reports_) {
      const Table* table = TableOf(report, family);
      const bool there = table != nullptr && IsFamily(*table);
      tables.push_back({report.tag, there ? Take(report, family) : Table{family, {}, {}}});
    }
    NameColumns(&tables);
    return tables;
  }

  Status Family(const std::string& family) {
    JV_ASSIGN(auto tables, CollectFamily(family));
    if (tables.empty()) return {};
    if (!rules_.skip_missing && std::any_of(tables.begin(), tables.end(), [](const auto& tagged) {
          return tagged.table.rows.empty();
        })) {
      return {};
    }
    Drop({}, kFamilyDrops, &tables);
    std::set<std::string> parameters;
    for (const std::string& column : tables[0].table.columns) {
      if (column.starts_with("param: ") && AllHave(tables, column)) parameters.insert(column);
    }
    JoinSpec spec{{"name"}, kFamilyTimes, kFamilyTimes[0]};
    spec.keys.insert(spec.keys.end(), parameters.begin(), parameters.end());
    AddFurtherKeys(tables, &spec);
    return AddSplit(ShortFamily(family), std::move(tables), spec);
  }

  std::vector<ReportTables> reports_;  // without the tables that were compared
  const SheetChoice& choice_;
  const CompareRules& rules_;
  ComparedSheets out_;
};

}  // namespace

Result<SheetChoice> ChooseSheets(const std::vector<std::string>& names) {
  if (names.empty() || std::find(names.begin(), names.end(), "all") != names.end()) {
    return SheetChoice();
  }
  SheetChoice choice{false, false, false, false, false, false, false};
  const std::pair<const char*, bool SheetChoice::*> groups[] = {
      {"gpu_timeline", &SheetChoice::gpu_timeline},
      {"ops_summary", &SheetChoice::ops_summary},
      {"kernel_summary", &SheetChoice::kernel_summary},
      {"ops_all", &SheetChoice::ops_all},
      {"roofline", &SheetChoice::roofline},
      {"collectives", &SheetChoice::collectives}};
  for (const std::string& name : names) {
    const auto group = std::find_if(std::begin(groups), std::end(groups),
                                    [&](const auto& known) { return known.first == name; });
    if (group == std::end(groups)) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("sheets: \"{}\" is not one of gpu_timeline, ops_summary, "
                              "kernel_summary, ops_all, roofline, collectives, all",
                              name.substr(0, 40)));
    }
    choice.*(group->second) = true;
  }
  return choice;
}

Result<ComparedSheets> CompareSheets(std::vector<ReportTables> reports, const SheetChoice& choice,
                                     const CompareRules& rules) {
  JV_CHECK(reports.size() >= 2 && reports.size() <= kReportsMax);
  JV_DCHECK(TagsDiffer(reports));
  return Comparison(std::move(reports), choice, rules).Run();
}

}  // namespace jarvis::analysis
