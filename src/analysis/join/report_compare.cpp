#include "analysis/join/report_compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"

namespace jarvis::analysis {
namespace {

using Row = std::vector<Cell>;

bool IsAbsent(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  return std::holds_alternative<Absent>(cell) || (number != nullptr && std::isnan(*number));
}

// Numbers, then text, then absent cells.
int Compare(const Cell& a, const Cell& b) {
  const auto kind = [](const Cell& cell) {
    if (IsAbsent(cell)) return 2;
    return std::holds_alternative<std::string>(cell) ? 1 : 0;
  };
  if (kind(a) != kind(b)) return kind(a) < kind(b) ? -1 : 1;
  if (kind(a) == 2) return 0;
  if (kind(a) == 1) return std::get<std::string>(a).compare(std::get<std::string>(b));
  const auto* ia = std::get_if<std::int64_t>(&a);
  const auto* ib = std::get_if<std::int64_t>(&b);
  if (ia != nullptr && ib != nullptr) return *ia == *ib ? 0 : (*ia < *ib ? -1 : 1);
  const double x = *NumberOf(a);
  const double y = *NumberOf(b);
  return x == y ? 0 : (x < y ? -1 : 1);
}

struct Less {
  bool operator()(const Row& a, const Row& b) const {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
      const int order = Compare(a[i], b[i]);
      if (order != 0) return order < 0;
    }
    return a.size() < b.size();
  }
};

std::vector<std::size_t> Places(const Table& table, const std::vector<std::string>& columns) {
  std::vector<std::size_t> places;
  for (const std::string& column : columns)
    places.push_back(ColumnOf(table, column));
  return places;
}

Row KeyOf(const Row& row, const std::vector<std::size_t>& places) {
  Row key;
  for (const std::size_t place : places)
    key.push_back(place < row.size() ? row[place] : Cell());
  return key;
}

// A row of one of the tables.
struct RowRef {
  std::uint32_t table;
  std::uint32_t row;
  friend bool operator==(const RowRef&, const RowRef&) = default;
};

constexpr std::uint32_t kNoRow = 0xFFFFFFFF;

// The rows of the join: what each is made of. Nothing of the tables is copied.
struct Matches {
  std::size_t tables = 0;
  std::vector<RowRef> keys;         // by match: a row that has its key
  std::vector<std::uint32_t> rows;  // by match, then by table; kNoRow: it has none

  std::size_t size() const { return keys.size(); }
  std::uint32_t row(std::size_t match, std::size_t table) const {
    return rows[match * tables + table];
  }
};

// Finds the rows that go together: those with equal keys.
class Matcher {
 public:
  Matcher(const std::vector<TaggedTable>& tables, const JoinSpec& spec) : tables_(tables) {
    for (const TaggedTable& tagged : tables)
      places_.push_back(Places(tagged.table, spec.keys));
    for (std::size_t t = 0; t < tables.size(); ++t) {
      for (std::size_t r = 0; r < tables[t].table.rows.size(); ++r)
        rows_.push_back({static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(r)});
    }
    // Equal ones stay in order: by table, then as they stand there.
    std::stable_sort(rows_.begin(), rows_.end(),
                     [this](RowRef a, RowRef b) { return CompareKeys(a, b) < 0; });
  }

  // `pair`: the n-th row of each table with the n-th of the others; else each with each.
  Result<Matches> Run(bool pair) const {
    Matches matches{tables_.size(), {}, {}};
    std::vector<std::vector<std::uint32_t>> group;  // by table
    for (std::size_t begin = 0; begin < rows_.size();) {
      group.assign(tables_.size(), {});
      std::size_t end = begin;
      for (; end < rows_.size() && CompareKeys(rows_[begin], rows_[end]) == 0; ++end)
        group[rows_[end].table].push_back(rows_[end].row);
      if (matches.size() + RowsOf(group, pair) > kJoinedRowsMax) {
        return Fail(ErrorCode::kTooLarge,
                    fmt::format("{}: joining the reports makes more than {} rows",
                                tables_.front().table.name, kJoinedRowsMax));
      }
      const std::vector<std::uint32_t> made = pair ? PairRows(group) : CrossRows(group);
      matches.rows.insert(matches.rows.end(), made.begin(), made.end());
      matches.keys.resize(matches.rows.size() / tables_.size(), rows_[begin]);
      begin = end;
    }
    return matches;
  }

 private:
  int CompareKeys(RowRef a, RowRef b) const {
    for (std::size_t k = 0; k < places_.front().size(); ++k) {
      const int order = Compare(CellOf(a, k), CellOf(b, k));
      if (order != 0) return order;
    }
    return 0;
  }

  const Cell& CellOf(RowRef ref, std::size_t key) const {
    static const Cell kAbsent;
    const Row& row = tables_[ref.table].table.rows[ref.row];
    const std::size_t place = places_[ref.table][key];
    return place < row.size() ? row[place] : kAbsent;
  }

  // The following make rows of as many numbers as there are tables.
  static std::vector<std::uint32_t> PairRows(const std::vector<std::vector<std::uint32_t>>& group) {
    std::vector<std::uint32_t> made(RowsOf(group, true) * group.size(), kNoRow);
    for (std::size_t t = 0; t < group.size(); ++t) {
      for (std::size_t i = 0; i < group[t].size(); ++i)
        made[i * group.size() + t] = group[t][i];
    }
    return made;
  }

  static std::vector<std::uint32_t> CrossRows(
      const std::vector<std::vector<std::uint32_t>>& group) {
    std::vector<std::uint32_t> made(group.size(), kNoRow);
    for (std::size_t t = 0; t < group.size(); ++t) {
      if (group[t].empty()) continue;
      std::vector<std::uint32_t> next;
      for (std::size_t at = 0; at < made.size(); at += group.size()) {
        for (const std::uint32_t r : group[t]) {
          next.insert(next.end(), made.begin() + static_cast<std::ptrdiff_t>(at),
                      made.begin() + static_cast<std::ptrdiff_t>(at + group.size()));
          next[next.size() - group.size() + t] = r;
        }
      }
      made = std::move(next);
    }
    return made;
  }

  // How many rows the group makes, up to one above the limit.
  static std::size_t RowsOf(const std::vector<std::vector<std::uint32_t>>& group, bool pair) {
    std::size_t count = pair ? 0 : 1;
    for (const auto& rows : group) {
      if (pair) {
        count = std::max(count, rows.size());
      } else if (!rows.empty()) {
        count = rows.size() > kJoinedRowsMax / count ? kJoinedRowsMax + 1 : count * rows.size();
      }
    }
    return pair ? count : std::min(count, kJoinedRowsMax + 1);
  }

  const std::vector<TaggedTable>& tables_;
  std::vector<std::vector<std::size_t>> places_;  // of the keys, by table
  std::vector<RowRef> rows_;                      // of all tables, by key
};

// a - b; of two integers an integer. Absent if either is.
Cell Difference(const Cell& a, const Cell& b) {
  const auto* ia = std::get_if<std::int64_t>(&a);
  const auto* ib = std::get_if<std::int64_t>(&b);
  if (ia != nullptr && ib != nullptr) {
    std::int64_t out = 0;
    if (!__builtin_sub_overflow(*ia, *ib, &out)) return out;
  }
  const auto x = NumberOf(a);
  const auto y = NumberOf(b);
  return x && y ? Cell(*x - *y) : Cell();
}

Cell Quotient(const Cell& a, const Cell& b, double factor = 1) {
  const auto x = NumberOf(a);
  const auto y = NumberOf(b);
  return x && y && *y != 0 ? Cell(factor * (*x / *y)) : Cell();
}

class Joiner {
 public:
  Joiner(std::vector<TaggedTable> tables, const JoinSpec& spec, const JoinRules& rules)
      : tables_(std::move(tables)), spec_(spec), rules_(rules) {}

  Result<Joined> Run() {
    JV_ASSIGN(matches_, Matcher(tables_, spec_).Run(rules_.pair_equal_keys));
    out_.table.rows.resize(matches_.size());
    const std::size_t columns = ColumnsMost();
    for (Row& row : out_.table.rows)
      row.reserve(columns);
    out_.keys = spec_.keys.size();
    out_.sort = spec_.sort;
    for (const TaggedTable& table : tables_)
      out_.tags.push_back(table.tag);
    for (std::size_t k = 0; k < spec_.keys.size(); ++k)
      AddKey(k);
    for (const std::string& column : spec_.compared)
      AddDifferences(column);
    for (std::size_t m = 0; m < matches_.size(); ++m)
      out_.present.push_back(PresenceOf(m));
    for (std::size_t t = 0; t < tables_.size(); ++t)
      AddOthers(t);
    return std::move(out_);
  }

 private:
  std::size_t ColumnsMost() const {
    constexpr std::size_t kOfOneCompared = 3;
    std::size_t columns =
        spec_.keys.size() + kOfOneCompared * spec_.compared.size() * (tables_.size() - 1);
    for (const TaggedTable& tagged : tables_) {
      for (const std::string& column : tagged.table.columns)
        columns += IsKey(column) ? std::size_t{0} : std::size_t{1};
    }
    return columns;
  }

  bool IsKey(const std::string& column) const {
    return std::find(spec_.keys.begin(), spec_.keys.end(), column) != spec_.keys.end();
  }

  void Append(std::string name, std::uint64_t owners, std::vector<Cell> cells) {
    out_.table.columns.push_back(std::move(name));
    out_.owners.push_back(owners);
    for (std::size_t r = 0; r < cells.size(); ++r)
      out_.table.rows[r].push_back(std::move(cells[r]));
  }

  // A row whose key it is gives its cell away: nobody asks for it again.
  void AddKey(std::size_t key) {
    std::vector<std::size_t> places;
    for (const TaggedTable& tagged : tables_)
      places.push_back(ColumnOf(tagged.table, spec_.keys[key]));
    std::vector<Cell> cells(matches_.size());
    for (std::size_t m = 0; m < matches_.size(); ++m) {
      const RowRef from = matches_.keys[m];
      if (m > 0 && from == matches_.keys[m - 1]) {
        cells[m] = cells[m - 1];
        continue;
      }
      Row& row = tables_[from.table].table.rows[from.row];
      if (places[from.table] < row.size()) cells[m] = std::move(row[places[from.table]]);
    }
    Append(spec_.keys[key], 0, std::move(cells));
  }

  // A table's column in the rows of the join. `take`: nobody asks for it again.
  std::vector<Cell> CellsOf(std::size_t t, std::size_t column, bool take) {
    std::vector<Cell> cells(matches_.size());
    bool absent = false;
    for (std::size_t m = 0; m < matches_.size(); ++m) {
      if (const std::uint32_t r = matches_.row(m, t); r != kNoRow) {
        Cell& cell = tables_[t].table.rows[r][column];
        cells[m] = take ? std::move(cell) : cell;
      }
      absent = absent || IsAbsent(cells[m]);
    }
    if (rules_.widen_integers && absent) {
      for (Cell& cell : cells) {
        if (const auto* whole = std::get_if<std::int64_t>(&cell))
          cell = static_cast<double>(*whole);
      }
    }
    return cells;
  }

  void AddDifferences(const std::string& column) {
    const std::size_t base = ColumnOf(tables_[0].table, column);
    if (base == std::string::npos) return;
    const std::vector<Cell> old = CellsOf(0, base, false);
    for (std::size_t t = 1; t < tables_.size(); ++t) {
      const std::size_t place = ColumnOf(tables_[t].table, column);
      if (place == std::string::npos) continue;
      const std::vector<Cell> now = CellsOf(t, place, false);
      const std::uint64_t owners = 1 | (std::uint64_t{1} << t);
      const std::string head = column + "__" + tables_[t].tag;
      const auto add = [&](const std::string& name, auto&& of) {
        std::vector<Cell> cells(old.size());
        for (std::size_t i = 0; i < old.size(); ++i)
          cells[i] = of(now[i], old[i]);
        Append(name, owners, std::move(cells));
      };
      if (rules_.ratios_both_ways) {
        const std::string& first = tables_[0].tag;
        add(head + "_minus_" + first, &Difference);
        add(head + "_over_" + first, [](const Cell& a, const Cell& b) { return Quotient(a, b); });
        add(column + "__" + first + "_over_" + tables_[t].tag,
            [](const Cell& a, const Cell& b) { return Quotient(b, a); });
      } else {
        add(head + "_diff", &Difference);
        add(head + "_pct",
            [](const Cell& a, const Cell& b) { return Quotient(Difference(a, b), b, 100); });
      }
    }
  }

  // The last that is asked of a table: where each of its rows is in one row of the join, the cells
  // move there.
  void AddOthers(std::size_t t) {
    const Table& table = tables_[t].table;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (IsKey(table.columns[c])) continue;
      Append(tables_[t].tag + "::" + table.columns[c], std::uint64_t{1} << t,
             CellsOf(t, c, rules_.pair_equal_keys));
    }
    tables_[t].table.rows = {};  // as large as what was made of it
  }

  std::uint64_t PresenceOf(std::size_t match) const {
    std::uint64_t present = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const std::uint32_t r = matches_.row(match, t);
      if (r == kNoRow) continue;
      if (!rules_.presence_by_row && !spec_.compared.empty()) {
        const std::size_t column = ColumnOf(tables_[t].table, spec_.compared[0]);
        if (column == std::string::npos || IsAbsent(tables_[t].table.rows[r][column])) continue;
      }
      present |= std::uint64_t{1} << t;
    }
    return present;
  }

  std::vector<TaggedTable> tables_;
  const JoinSpec& spec_;
  const JoinRules& rules_;
  Matches matches_;
  Joined out_;
};

Row PartOf(Row row, const std::vector<std::size_t>& columns) {
  Row part;
  part.reserve(columns.size());
  for (const std::size_t c : columns)
    part.push_back(std::move(row[c]));
  return part;
}

void DropEmptyColumns(Table* table) {
  std::vector<std::string> empty;
  for (std::size_t c = 0; c < table->columns.size(); ++c) {
    if (std::all_of(table->rows.begin(), table->rows.end(),
                    [&](const Row& row) { return IsAbsent(row[c]); })) {
      empty.push_back(table->columns[c]);
    }
  }
  DropColumns(empty, table);
  if (table->columns.empty()) table->rows.clear();
}

}  // namespace

std::size_t ColumnOf(const Table& table, const std::string& column) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), column);
  return found == table.columns.end() ? std::string::npos
                                      : static_cast<std::size_t>(found - table.columns.begin());
}

void DropColumns(const std::vector<std::string>& columns, Table* table) {
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < table->columns.size(); ++c) {
    if (std::find(columns.begin(), columns.end(), table->columns[c]) == columns.end())
      kept.push_back(c);
  }
  if (kept.size() == table->columns.size()) return;
  std::vector<std::string> names;
  for (const std::size_t c : kept)
    names.push_back(std::move(table->columns[c]));
  table->columns = std::move(names);
  for (Row& row : table->rows) {
    Row cells;
    cells.reserve(kept.size());
    for (const std::size_t c : kept)
      cells.push_back(std::move(row[c]));
    row = std::move(cells);
  }
}

std::optional<double> NumberOf(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? 1.0 : 0.0;
  const auto* number = std::get_if<double>(&cell);
  if (number == nullptr || std::isnan(*number)) return std::nullopt;
  return *number;
}

Result<Joined> Join(std::vector<TaggedTable> tables, const JoinSpec& spec, const JoinRules& rules) {
  JV_CHECK(!tables.empty() && tables.size() <= kReportsMax);
  JV_DCHECK(TagsDiffer(tables));
  return Joiner(std::move(tables), spec, rules).Run();
}

void SortDescending(const std::string& tag, const std::string& sort, Table* table) {
  const std::size_t column = ColumnOf(*table, tag + "::" + sort);
  if (column == std::string::npos) return;
  std::stable_sort(table->rows.begin(), table->rows.end(), [column](const Row& a, const Row& b) {
    const auto x = NumberOf(a[column]);
    const auto y = NumberOf(b[column]);
    return x && (!y || *x > *y);
  });
}

std::vector<Table> SplitByPresence(Joined joined, const std::string& name, const JoinRules& rules) {
  struct Part {
    const char* what;
    bool base;
    bool variant;
  };
  constexpr Part kParts[] = {{"_intersect_", true, true},
                             {"_only_baseline_", true, false},
                             {"_only_variant_", false, true}};
  std::vector<Table> tables;
  for (std::size_t v = 1; v < joined.tags.size(); ++v) {
    for (const Part& part : kParts) {
      const std::uint64_t of_variant = std::uint64_t{1} << v;
      const std::uint64_t kept = (part.base ? 1u : 0u) | (part.variant ? of_variant : 0);
      Table table{name + part.what + joined.tags[v], {}, {}};
      std::vector<std::size_t> columns;
      for (std::size_t c = 0; c < joined.owners.size(); ++c) {
        if ((joined.owners[c] & ~kept) != 0) continue;
        columns.push_back(c);
        table.columns.push_back(joined.table.columns[c]);
      }
      for (std::size_t r = 0; r < joined.present.size(); ++r) {
        if ((joined.present[r] & (1 | of_variant)) != kept) continue;
        Row& from = joined.table.rows[r];
        // Of two reports each row is in one table.
        if (joined.tags.size() > 2) {
          table.rows.push_back(PartOf(from, columns));
        } else {
          table.rows.push_back(columns.size() == from.size() ? std::move(from)
                                                             : PartOf(std::move(from), columns));
          from = {};
        }
      }
      SortDescending(joined.tags[part.base ? 0 : v], joined.sort, &table);
      if (!rules.keep_empty_columns) DropEmptyColumns(&table);
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

Table AddUp(const Table& table, const std::vector<std::string>& keys,
            const std::vector<std::string>& added) {
  const std::vector<std::size_t> places = Places(table, keys);
  Table out{table.name, table.columns, {}};
  std::map<Row, std::size_t, Less> rows;
  for (const Row& row : table.rows) {
    const auto [found, first] = rows.try_emplace(KeyOf(row, places), out.rows.size());
    if (first) {
      out.rows.push_back(row);
      continue;
    }
    Row& sum = out.rows[found->second];
    for (const std::string& column : added) {
      const std::size_t c = ColumnOf(table, column);
      if (c == std::string::npos || IsAbsent(row[c])) continue;
      const auto* ia = std::get_if<std::int64_t>(&sum[c]);
      const auto* ib = std::get_if<std::int64_t>(&row[c]);
      if (ia != nullptr && ib != nullptr) {
        std::int64_t both = 0;
        sum[c] = __builtin_add_overflow(*ia, *ib, &both)
                     ? Cell(static_cast<double>(*ia) + static_cast<double>(*ib))
                     : Cell(both);
      } else if (const auto y = NumberOf(row[c])) {
        sum[c] = NumberOf(sum[c]).value_or(0) + *y;
      }
    }
  }
  return out;
}

}  // namespace jarvis::analysis
