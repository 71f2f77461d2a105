#include "rocprof/metrics/join_rows.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "rocprof/metrics/kernel_tables.h"

namespace jarvis::rocprof {
namespace {

using Number = std::optional<std::int64_t>;
using Key = std::tuple<std::string, Number, Number, Number>;  // kernel, threads, channels, rank
using Rows = std::vector<KernelRow>;

class Columns {
 public:
  explicit Columns(const Table& table) : table_(table) {}

  std::optional<std::size_t> Find(const char* name) const {
    const auto found = std::find(table_.columns.begin(), table_.columns.end(), name);
    if (found == table_.columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - table_.columns.begin());
  }

 private:
  const Table& table_;
};

Number NumberAt(const std::vector<Cell>& row, std::optional<std::size_t> column) {
  if (!column) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&row[*column])) return *whole;
  if (const auto* real = std::get_if<double>(&row[*column]))
    return static_cast<std::int64_t>(*real);
  return std::nullopt;
}

// The rows of the first config alone: a kernel's grids once each.
std::map<Key, Rows> Index(const Rows& rows, bool config, bool rank) {
  std::map<Key, Rows> index;
  for (const KernelRow& row : rows) {
    Rows& own = index[{row.kernel, config ? row.config.threads : Number(),
                       config ? row.config.channels : Number(), rank ? row.rank : Number()}];
    if (own.empty() || own.front().config == row.config) own.push_back(row);
  }
  return index;
}

}  // namespace

Result<Table> JoinWithRows(const Table& rows, const Capture& capture, const GroupOptions& options,
                           Job& job) {
  const Columns columns(rows);
  const auto kernel = columns.Find("kernel_name");
  if (!kernel) return Fail(ErrorCode::kBadValue, "the table has no column kernel_name");
  const auto threads = columns.Find("threads");
  const auto channels = columns.Find("channels");
  const auto rank = columns.Find("rank");
  const auto grid = columns.Find("grid_size");
  GroupOptions by_rank = options;
  by_rank.by = GroupBy::kKernelGrid;
  by_rank.by_rank = true;
  GroupOptions by_config = by_rank;
  by_config.by_rank = false;
  JV_ASSIGN(const Rows ranks, KernelRows(capture, by_rank, job));
  JV_ASSIGN(const Rows configs, KernelRows(capture, by_config, job));
  struct Level {
    const char* name;
    std::map<Key, Rows> index;
  };
  const Level levels[] = {{"rank", Index(ranks, true, true)},
                          {"config", Index(configs, true, false)},
                          {"any", Index(configs, false, false)}};

  const Table shape = KernelTable({}, "", by_config);
  // The keys of the table are those of the row.
  constexpr std::size_t kKeys = 4;  // config, threads, channels, kernel_name
  Table joined{"gemm_kernel_rocprof", rows.columns, {}};
  joined.columns.emplace_back("rocprof_match");
  for (std::size_t c = kKeys; c < shape.columns.size(); ++c)
    joined.columns.push_back("rocprof_" + shape.columns[c]);
  for (const std::vector<Cell>& row : rows.rows) {
    const auto* name = std::get_if<std::string>(&row[*kernel]);
    const Number wanted_grid = NumberAt(row, grid);
    bool any = false;
    for (const Level& level : levels) {
      if (name == nullptr || any) break;
      const bool config = level.name != std::string_view("any");
      const auto found = level.index.find(
          {*name, config ? NumberAt(row, threads) : Number(),
           config ? NumberAt(row, channels) : Number(),
           level.name == std::string_view("rank") ? NumberAt(row, rank) : Number()});
      if (found == level.index.end()) continue;
      const Table metrics = KernelTable(found->second, "", by_config);
      for (std::size_t i = 0; i < metrics.rows.size(); ++i) {
        if (wanted_grid && found->second[i].grid != *wanted_grid) continue;
        std::vector<Cell> cells = row;
        cells.emplace_back(std::string(level.name));
        cells.insert(cells.end(), metrics.rows[i].begin() + kKeys, metrics.rows[i].end());
        joined.rows.push_back(std::move(cells));
        any = true;
      }
    }
    if (any) continue;
    std::vector<Cell> cells = row;
    cells.resize(joined.columns.size());
    joined.rows.push_back(std::move(cells));
  }
  return joined;
}

}  // namespace jarvis::rocprof
