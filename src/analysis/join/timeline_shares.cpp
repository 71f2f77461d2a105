#include "analysis/join/timeline_shares.h"

#include "analysis/join/report_compare.h"

namespace jarvis::analysis {

std::map<std::string, TimelineShare> TimelineShares(const Table& gpu_timeline) {
  std::map<std::string, TimelineShare> shares;
  for (const std::vector<Cell>& row : gpu_timeline.rows) {
    const Cell type = CellAt(gpu_timeline, row, "type");
    const auto ms = NumberOf(CellAt(gpu_timeline, row, "time ms"));
    const auto percent = NumberOf(CellAt(gpu_timeline, row, "percent"));
    const auto* name = std::get_if<std::string>(&type);
    if (name != nullptr && ms && percent) shares[*name] = {*ms, *percent};
  }
  return shares;
}

Cell CellAt(const Table& table, const std::vector<Cell>& row, const std::string& column) {
  const std::size_t place = ColumnOf(table, column);
  return place < row.size() ? row[place] : Cell();
}

}  // namespace jarvis::analysis
