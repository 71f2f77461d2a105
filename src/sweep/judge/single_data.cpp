#include "sweep/judge/single_data.h"

#include <algorithm>
#include <utility>

#include "analysis/join/report_compare.h"

namespace jarvis::sweep {
namespace {

using analysis::ColumnOf;
using analysis::NumberOf;

Cell At(const std::vector<Cell>& row, std::size_t column) {
  return column < row.size() ? row[column] : Cell();
}

void AddTimes(const RankFacts& rank, std::vector<SingleTime>* times) {
  const Table* table = rank.Find("gpu_timeline");
  if (table == nullptr) return;
  const std::size_t type = ColumnOf(*table, "type");
  const std::size_t ms = ColumnOf(*table, "time ms");
  for (const auto& row : table->rows) {
    const Cell name_cell = At(row, type);
    const auto* name = std::get_if<std::string>(&name_cell);
    const auto value = NumberOf(At(row, ms));
    if (name == nullptr || !value) continue;
    auto found = std::find_if(times->begin(), times->end(),
                              [&](const SingleTime& one) { return one.type == *name; });
    if (found == times->end()) found = times->insert(found, {*name, {}});
    found->ms.emplace_back(rank.rank, *value);
  }
}

void AddCollectives(const ConfigFacts& config, std::vector<SingleCollective>* out) {
  if (!config.with_collectives) return;
  for (const Table& table : config.collectives.tables) {
    if (table.name != "nccl_summary_implicit_sync") continue;
    const auto number = [&](const auto& row, const char* column) {
      return NumberOf(At(row, ColumnOf(table, column)));
    };
    for (const auto& row : table.rows) {
      const Cell name_cell = At(row, ColumnOf(table, "Collective name"));
      const auto* name = std::get_if<std::string>(&name_cell);
      SingleCollective one;
      one.operation = name != nullptr ? *name : "unknown";
      one.elements = static_cast<std::int64_t>(number(row, "In msg nelems").value_or(0));
      one.latency_us = number(row, "comm_latency_mean");
      one.algo_gbps = number(row, "algo bw (GB/s)_mean");
      one.bus_gbps = number(row, "bus bw (GB/s)_mean");
      one.total_ms = number(row, "Total comm latency (ms)");
      out->push_back(std::move(one));
    }
  }
}

}  // namespace

std::vector<SingleRun> SingleRunsOf(std::span<const NamedRun> runs) {
  std::vector<SingleRun> out;
  for (const NamedRun& run : runs) {
    SingleRun one;
    one.label = run.label;
    one.path = run.facts->sweep.path;
    const ConfigFacts& config = run.facts->configs.front();
    for (const RankFacts& rank : config.ranks)
      AddTimes(rank, &one.times);
    AddCollectives(config, &one.collectives);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace jarvis::sweep
