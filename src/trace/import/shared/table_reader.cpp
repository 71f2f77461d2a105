#include "trace/import/shared/table_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace jarvis::trace {

void TableTally::Merge(const TableTally& other) {
  for (const auto& [what, count] : other.counts)
    counts[what] += count;
  damage.insert(damage.end(), other.damage.begin(), other.damage.end());
  missing.insert(missing.end(), other.missing.begin(), other.missing.end());
  rows += other.rows;
  odd_cells += other.odd_cells;
  last_ns = std::max(last_ns, other.last_ns);
}

void TableReader::EachRow(const std::string& table, const std::vector<std::string_view>& columns,
                          std::size_t needed, const std::function<Status(io::SqliteRows&)>& row) {
  if (!status_ || !file_.Has(table)) return;
  io::SqliteRows rows = file_.Read(table, columns);
  for (std::size_t i = 0; i < needed; ++i) {
    if (rows.HasColumn(static_cast<int>(i))) continue;
    std::uint64_t lost = 0;
    while (rows.Next())
      ++lost;
    tally.missing.push_back(fmt::format("{} lacks {} ({} rows)", table, columns[i], lost));
    return;
  }
  while (rows.Next()) {
    status_ = row(rows);
    if (!status_) return;
  }
  if (Status stopped = job_.Check(); !stopped) status_ = std::move(stopped);
  tally.odd_cells += rows.odd_cells();
  if (!rows.damage().empty()) tally.damage.push_back(rows.damage());
}

bool TableReader::Timed(std::int64_t start, std::int64_t end, const char* what) {
  ++tally.rows;
  if (start == kNoCell || end == kNoCell || (start == 0 && end == 0)) {
    ++tally.counts[fmt::format("{} without time", what)];
    writer_.oddities().Count(Oddity::kNoTimestamp, writer_.events());
    return false;
  }
  if (end < start) {
    ++tally.counts[fmt::format("{} that end before they start", what)];
    writer_.oddities().Count(Oddity::kNegativeDuration, writer_.events());
    return false;
  }
  tally.last_ns = std::max(tally.last_ns, end);
  return true;
}

}  // namespace jarvis::trace
