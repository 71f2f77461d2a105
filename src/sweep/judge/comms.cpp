#include "sweep/judge/comms.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/join/report_compare.h"
#include "analysis/ranks/collective_sync.h"
#include "compat/sweep_scripts.h"
#include "sweep/scan/config_cells.h"

namespace jarvis::sweep {
namespace {

const Table* SummaryOf(const ConfigFacts& config) {
  if (!config.with_collectives) return nullptr;
  for (const Table& table : config.collectives.tables) {
    if (table.name == "nccl_summary_implicit_sync") return &table;
  }
  return nullptr;
}

Cell At(const Table& table, const std::vector<Cell>& row, const std::string& column) {
  const std::size_t place = analysis::ColumnOf(table, column);
  return place < row.size() ? row[place] : Cell();
}

std::string TextOf(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  return {};
}

// What makes two rows the same operation, in the order in which operations are numbered: the size
// first, unknown sizes last.
using Operation = std::tuple<double, std::string, std::string, std::string, std::string>;
constexpr double kUnknownSize = 1e300;

struct MasterRow {
  std::size_t config;
  const Table* table;
  const std::vector<Cell>* cells;
  Operation operation;
};

Operation OperationOf(const Table& table, const std::vector<Cell>& row, bool compat) {
  const double size =
      analysis::NumberOf(At(table, row, "Full msg size (MB)")).value_or(kUnknownSize);
  if (compat) return {size, "", "", "", ""};  // equal sizes are one operation there
  return {size, TextOf(At(table, row, "Collective name")), TextOf(At(table, row, "dtype")),
          TextOf(At(table, row, "In msg nelems")), TextOf(At(table, row, "Group size"))};
}

std::string SizeText(double megabytes) {
  if (megabytes >= 1024) return fmt::format("{:.2f}GB", megabytes / 1024);
  if (megabytes >= 1) return fmt::format("{:.2f}MB", megabytes);
  if (megabytes * 1024 >= 1) return fmt::format("{:.2f}KB", megabytes * 1024);
  return fmt::format("{:.0f}B", megabytes * 1024 * 1024);
}

std::string NameOf(const Operation& operation, bool compat) {
  const double size = std::get<0>(operation);
  if (compat) return compat::OperationName(size);
  return fmt::format("{}_{}_{}", std::get<1>(operation),
                     size == kUnknownSize ? std::string("unknown size") : SizeText(size),
                     std::get<2>(operation));
}

struct Master {
  std::vector<MasterRow> rows;  // by operation, then configuration
  std::map<Operation, std::string> ids;
};

Master MasterOf(const SweepFacts& facts) {
  Master master;
  for (std::size_t c = 0; c < facts.configs.size(); ++c) {
    const Table* table = SummaryOf(facts.configs[c]);
    if (table == nullptr) continue;
    for (const auto& row : table->rows) {
      master.rows.push_back({c, table, &row, OperationOf(*table, row, facts.reference_compat)});
      master.ids[master.rows.back().operation];
    }
  }
  std::size_t number = 0;
  for (auto& [operation, id] : master.ids)
    id = fmt::format("OP_{:02}", ++number);
  std::stable_sort(master.rows.begin(), master.rows.end(), [&](const auto& a, const auto& b) {
    return std::pair(a.operation, a.config) < std::pair(b.operation, b.config);
  });
  return master;
}

std::vector<std::string> WithMoments(const std::string& name) {
  return {name + "_mean", name + "_median", name + "_min", name + "_max"};
}

// "collective_28ch.xlsx".
std::string SourceFile(const Sweep& sweep, const Config& config) {
  return fmt::format("collective_{}.xlsx", BookTag(sweep, config));
}

}  // namespace

Table NcclMaster(const SweepFacts& facts) {
  const Sweep& sweep = facts.sweep;
  Table table{"nccl_master_all_configs",
              {"operation_id", "operation_name", "Full msg size (MB)", "In msg nelems"},
              {}};
  if (sweep.threads_by_channels) {
    for (const char* column : {"threads_num", "thread_config", "channels_num", "channel_config"})
      table.columns.emplace_back(column);
  } else {
    table.columns.insert(table.columns.end(), sweep.axes.begin(), sweep.axes.end());
  }
  for (const char* column : {"full_config", "Collective name", "dtype", "Group size", "count"})
    table.columns.emplace_back(column);
  std::vector<std::string> measures = WithMoments("comm_latency");
  measures.emplace_back("Total comm latency (ms)");
  for (const char* name :
       {"algo bw (GB/s)", "bus bw (GB/s)", "skew in start time", "skew in end time"}) {
    for (std::string& one : WithMoments(name))
      measures.push_back(std::move(one));
  }
  table.columns.insert(table.columns.end(), measures.begin(), measures.end());
  table.columns.insert(table.columns.end(), {"Process Group Name", "source_file"});
  const Master master = MasterOf(facts);
  for (const MasterRow& row : master.rows) {
    const Config& config = sweep.configs[row.config];
    const auto at = [&](const std::string& column) { return At(*row.table, *row.cells, column); };
    std::vector<Cell> cells = {master.ids.at(row.operation),
                               NameOf(row.operation, facts.reference_compat),
                               at("Full msg size (MB)"), at("In msg nelems")};
    const std::vector<Cell> values = AxisCells(config);
    if (sweep.threads_by_channels) {
      cells.insert(cells.end(), {values[0], config.values[0].text + "thread", values[1],
                                 config.values[1].text + "ch"});
    } else {
      cells.insert(cells.end(), values.begin(), values.end());
    }
    cells.insert(cells.end(),
                 {config.label, at("Collective name"), at("dtype"), at("Group size"), at("count")});
    for (const std::string& measure : measures)
      cells.push_back(at(measure));
    cells.insert(cells.end(), {at("Process Group Name"), SourceFile(sweep, config)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table BestByOperation(const SweepFacts& facts) {
  Table table{"nccl_best_configs",
              {"operation_id", "operation_name", "Collective name", "dtype", "Full msg size (MB)",
               "configs", "best_latency_config", "best_latency_us", "worst_latency_config",
               "worst_latency_us", "best_bus_bw_config", "best_bus_bw_GB_s"},
              {}};
  const Master master = MasterOf(facts);
  for (std::size_t i = 0; i < master.rows.size();) {
    const MasterRow& first = master.rows[i];
    std::set<std::size_t> configs;
    std::optional<std::pair<double, std::size_t>> fast;
    std::optional<std::pair<double, std::size_t>> slow;
    std::optional<std::pair<double, std::size_t>> wide;
    for (; i < master.rows.size() && master.rows[i].operation == first.operation; ++i) {
      const MasterRow& row = master.rows[i];
      configs.insert(row.config);
      const auto latency = analysis::NumberOf(At(*row.table, *row.cells, "comm_latency_mean"));
      const auto bandwidth = analysis::NumberOf(At(*row.table, *row.cells, "bus bw (GB/s)_mean"));
      if (latency && (!fast || *latency < fast->first)) fast = {*latency, row.config};
      if (latency && (!slow || *latency > slow->first)) slow = {*latency, row.config};
      if (bandwidth && (!wide || *bandwidth > wide->first)) wide = {*bandwidth, row.config};
    }
    const auto at = [&](const char* column) { return At(*first.table, *first.cells, column); };
    std::vector<Cell> cells = {
        master.ids.at(first.operation), NameOf(first.operation, facts.reference_compat),
        at("Collective name"),          at("dtype"),
        at("Full msg size (MB)"),       static_cast<std::int64_t>(configs.size())};
    for (const auto& best : {fast, slow, wide}) {
      cells.push_back(best ? Cell(facts.sweep.configs[best->second].label) : Cell());
      cells.push_back(best ? Cell(best->first) : Cell());
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<Straggler> Stragglers(const SweepFacts& facts, const ConfigFacts* config) {
  std::map<std::int64_t, Straggler> ranks;
  double all = 0;
  for (const ConfigFacts& one : facts.configs) {
    if ((config != nullptr && config != &one) || !one.with_collectives) continue;
    for (const analysis::SyncedCollective& synced : one.collectives.synced) {
      if (synced.ranks.size() < 2 || !synced.last || synced.collective->point_to_point) continue;
      ++all;
      for (const auto& member : synced.ranks) {
        const auto& call = one.collectives.matching.calls[member.call];
        Straggler& rank = ranks[*one.set->ranks[call.rank].rank];
        rank.wait_us += member.wait.value_or(0);
      }
      if (synced.came_late) ++ranks[*one.set->ranks[*synced.last].rank].arrived_last;
    }
  }
  std::vector<Straggler> list;
  for (auto& [number, rank] : ranks) {
    rank.rank = number;
    rank.last_share = all > 0 ? 100 * static_cast<double>(rank.arrived_last) / all : 0;
    list.push_back(rank);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.arrived_last > b.arrived_last; });
  return list;
}

Table StragglerTable(const SweepFacts& facts) {
  Table table{"sweep_stragglers",
              {"full_config", "rank", "arrived_last", "arrived_last_pct", "total_wait_ms"},
              {}};
  const auto add = [&](const std::string& label, const ConfigFacts* config) {
    for (const Straggler& one : Stragglers(facts, config)) {
      table.rows.push_back({label, one.rank, one.arrived_last, one.last_share, one.wait_us / 1000});
    }
  };
  add("all", nullptr);
  for (std::size_t c = 0; c < facts.configs.size(); ++c)
    add(facts.sweep.configs[c].label, &facts.configs[c]);
  return table;
}

std::optional<double> TotalLatencyMs(const ConfigFacts& config) {
  const Table* table = SummaryOf(config);
  if (table == nullptr) return std::nullopt;
  std::optional<double> total;
  for (const auto& row : table->rows) {
    if (const auto one = analysis::NumberOf(At(*table, row, "Total comm latency (ms)")))
      total = total.value_or(0) + *one;
  }
  return total;
}

}  // namespace jarvis::sweep
