#include "sweep/judge/reports.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analysis/join/compare_sheets.h"
#include "compat/tracelens_compare.h"
#include "sweep/scan/config_cells.h"

namespace jarvis::sweep {
namespace {

constexpr const char* kIndividual[] = {"gpu_timeline", "ops_summary", "GEMM", "kernel_summary"};
constexpr const char* kCompared[] = {"gpu_timeline", "ops_summary"};

// Tables of one sheet one below the other; columns are the union, in order of first sight.
class Stack {
 public:
  Stack(std::string name, std::vector<std::string> keys) {
    table_.name = std::move(name);
    keys_ = keys.size();
    table_.columns = std::move(keys);
  }

  void Add(const std::vector<Cell>& keys, const Table& part) {
    std::vector<std::size_t> places;
    for (const std::string& column : part.columns) {
      const auto from = table_.columns.begin() + static_cast<std::ptrdiff_t>(keys_);
      const auto found = std::find(from, table_.columns.end(), column);
      places.push_back(static_cast<std::size_t>(found - table_.columns.begin()));
      if (found == table_.columns.end()) table_.columns.push_back(column);
    }
    for (const auto& row : part.rows) {
      std::vector<Cell> cells = keys;
      cells.resize(table_.columns.size());
      for (std::size_t i = 0; i < row.size(); ++i)
        cells[places[i]] = row[i];
      table_.rows.push_back(std::move(cells));
    }
  }

  Table Take() {
    for (auto& row : table_.rows)
      row.resize(table_.columns.size());
    return std::move(table_);
  }

 private:
  Table table_;
  std::size_t keys_;
};

class Maker {
 public:
  Maker(const SweepFacts& facts, Job& job) : facts_(facts), sweep_(facts.sweep), job_(job) {}

  Result<Reports> Run(bool comparisons) {
    Individual();
    Collective();
    if (comparisons && !sweep_.axes.empty()) JV_TRY(Compare());
    return std::move(reports_);
  }

 private:
  // "256thread/" of "256thread/nccl_28channels".
  static std::string FolderOf(const Config& config) {
    const std::size_t slash = config.folder.rfind('/');
    return slash == std::string::npos ? "" : config.folder.substr(0, slash + 1);
  }

  void Individual() {
    std::vector<std::string> keys = AxisColumns(sweep_);
    keys.emplace_back("rank");
    for (std::size_t c = 0; c < facts_.configs.size(); ++c) {
      const Config& config = sweep_.configs[c];
      for (const RankFacts& rank : facts_.configs[c].ranks) {
        reports_.books.push_back({fmt::format("{}individual_reports/perf_{}_rank{}.xlsx",
                                              FolderOf(config), BookTag(sweep_, config), rank.rank),
                                  rank.tables});
        ++reports_.individual;
      }
    }
    for (const char* sheet : kIndividual) {
      Stack stack(std::string("individual_") + sheet, keys);
      for (std::size_t c = 0; c < facts_.configs.size(); ++c) {
        for (const RankFacts& rank : facts_.configs[c].ranks) {
          std::vector<Cell> cells = AxisCells(sweep_.configs[c]);
          cells.emplace_back(rank.rank);
          if (const Table* table = rank.Find(sheet)) stack.Add(cells, *table);
        }
      }
      Table table = stack.Take();
      if (!table.rows.empty()) reports_.stacked.push_back(std::move(table));
    }
  }

  void Collective() {
    std::vector<std::string> order;
    std::map<std::string, Stack> stacks;
    for (std::size_t c = 0; c < facts_.configs.size(); ++c) {
      const ConfigFacts& facts = facts_.configs[c];
      const Config& config = sweep_.configs[c];
      if (!facts.with_collectives) continue;
      reports_.books.push_back({fmt::format("{}collective_reports/collective_{}.xlsx",
                                            FolderOf(config), BookTag(sweep_, config)),
                                facts.collectives.tables});
      ++reports_.collective;
      for (const Table& table : facts.collectives.tables) {
        if (!table.name.starts_with("nccl_")) continue;
        const auto [found, added] =
            stacks.try_emplace(table.name, "collective_" + table.name, AxisColumns(sweep_));
        if (added) order.push_back(table.name);
        found->second.Add(AxisCells(config), table);
      }
    }
    for (const std::string& name : order)
      reports_.stacked.push_back(stacks.at(name).Take());
  }

  // Ranks of configurations that differ in the first axis alone.
  Status Compare() {
    using Key = std::pair<std::vector<std::string>, std::int64_t>;  // other axes, rank
    std::map<Key, std::vector<std::pair<std::size_t, const RankFacts*>>> groups;
    std::vector<const Key*> order;
    for (std::size_t c = 0; c < facts_.configs.size(); ++c) {
      std::vector<std::string> rest;
      for (std::size_t a = 1; a < sweep_.configs[c].values.size(); ++a)
        rest.push_back(sweep_.configs[c].values[a].text);
      for (const RankFacts& rank : facts_.configs[c].ranks) {
        const auto [found, added] = groups.try_emplace({rest, rank.rank});
        if (added) order.push_back(&found->first);
        found->second.emplace_back(c, &rank);
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](const Key* a, const Key* b) {
      const std::size_t first = groups.at(*a).front().first;
      const std::size_t second = groups.at(*b).front().first;
      return std::pair(first, a->second) < std::pair(second, b->second);
    });
    std::vector<std::string> keys(sweep_.axes.begin() + 1, sweep_.axes.end());
    keys.emplace_back("rank");
    std::map<std::string, Stack> stacks;
    for (const char* sheet : kCompared)
      stacks.try_emplace(sheet, std::string("comparison_") + sheet, keys);
    reports_.compared.reserve(order.size());  // books refer to its elements
    for (const Key* key : order) {
      const auto& members = groups.at(*key);
      if (members.size() < 2) continue;
      JV_TRY(job_.Check());
      JV_ASSIGN(const analysis::ComparedSheets compared, CompareRanks(members));
      std::vector<Cell> cells = AxisCells(sweep_.configs[members.front().first]);
      cells.erase(cells.begin());
      cells.emplace_back(key->second);
      for (const Table& table : compared.tables) {
        const auto stack = stacks.find(table.name);
        if (stack != stacks.end()) stack->second.Add(cells, table);
      }
      reports_.compared.push_back(compared.tables);
      reports_.books.push_back({fmt::format("comparisons/compare_{}_rank{}_across_{}.xlsx",
                                            TagOfRest(sweep_.configs[members.front().first]),
                                            key->second, sweep_.axes.front()),
                                reports_.compared.back()});
      ++reports_.comparisons;
    }
    for (const char* sheet : kCompared) {
      Table table = stacks.at(sheet).Take();
      if (!table.rows.empty()) reports_.stacked.push_back(std::move(table));
    }
    return {};
  }

  std::string TagOfRest(const Config& config) const {
    if (sweep_.threads_by_channels) return BookTag(sweep_, config);
    std::string tag;
    for (std::size_t a = 1; a < config.values.size(); ++a)
      tag += fmt::format("{}{}{}", tag.empty() ? "" : "_", config.values[a].text, sweep_.axes[a]);
    return tag.empty() ? "all" : tag;
  }

  Result<analysis::ComparedSheets> CompareRanks(
      const std::vector<std::pair<std::size_t, const RankFacts*>>& members) const {
    std::vector<analysis::ReportTables> reports;
    for (const auto& [c, rank] : members) {
      if (reports.size() == analysis::kReportsMax) break;
      const Config& config = sweep_.configs[c];
      analysis::ReportTables report;
      report.tag =
          sweep_.threads_by_channels ? config.values[0].text + "thread" : config.values[0].text;
      for (const char* sheet : kCompared) {
        if (const Table* table = rank->Find(sheet)) report.tables.push_back(*table);
      }
      reports.push_back(std::move(report));
    }
    JV_ASSIGN(const analysis::SheetChoice choice,
              analysis::ChooseSheets({"gpu_timeline", "ops_summary"}));
    const analysis::CompareRules rules =
        facts_.reference_compat ? compat::TraceLensCompareRules() : analysis::CompareRules();
    return analysis::CompareSheets(std::move(reports), choice, rules);
  }

  const SweepFacts& facts_;
  const Sweep& sweep_;
  Job& job_;
  Reports reports_;
};

}  // namespace

Result<Reports> MakeReports(const SweepFacts& facts, bool comparisons, Job& job) {
  return Maker(facts, job).Run(comparisons);
}

}  // namespace jarvis::sweep
