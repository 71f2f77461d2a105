// The algebra of report comparison: tables of several reports side by side, row by row. Knows no
// sheet; compare_sheets.h says which sheets are joined on what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/table.h"

namespace jarvis::analysis {

// How tables are joined and shown. The default is right; compat/ has the reference's.
struct JoinRules {
  // Rows of one report with equal keys: the first goes with the first of the other reports, the
  // second with the second; no row is shown twice. Else each goes with each (SQL).
  bool pair_equal_keys = true;
  // <column>__<variant>_minus_<base>, _over_ both ways. Else <column>__<variant>_diff and _pct
  // (100 (variant - base) / base).
  bool ratios_both_ways = true;
  // A row is in a report if the join found it there. Else if its first compared column is there.
  bool presence_by_row = true;
  // Else columns without any value are dropped from the split tables, of empty ones all.
  bool keep_empty_columns = true;
  // An integer column in which cells are absent becomes one of floating point numbers.
  bool widen_integers = false;
};

// One report's part of a joined table.
struct TaggedTable {
  std::string tag;
  Table table;
};

// Are the tags all different? Of reports or their tables.
template <typename Tagged>
bool TagsDiffer(const std::vector<Tagged>& all) {
  std::set<std::string_view> tags;
  for (const Tagged& one : all)
    tags.insert(one.tag);
  return tags.size() == all.size();
}

struct JoinSpec {
  std::vector<std::string> keys;      // columns that every table has
  std::vector<std::string> compared;  // columns whose differences are shown, where tables have them
  std::string sort;                   // by this column of the baseline, the largest first
};

// Rows of all reports: keys, differences to the first report (the baseline), then each report's
// other columns as <tag>::<column>. Outer join: a row that one report has is there, with absent
// cells for the others. Cells compare by value (1 equals 1.0); absent equals absent and comes last.
struct Joined {
  Table table;
  std::vector<std::string> tags;
  std::size_t keys = 0;  // leading columns
  // By column: which reports must be there for it to say something; bit i is tags[i]. Keys: 0.
  std::vector<std::uint64_t> owners;
  std::vector<std::uint64_t> present;  // by row: the reports that have it
  std::string sort;
};

inline constexpr std::size_t kReportsMax = 64;

inline constexpr std::size_t kJoinedRowsMax = 1'000'000;  // equal keys multiply in SQL joins

// REQUIRES: 1 to kReportsMax tables, tags all different, no column both key and compared. Rows are
// by key, ascending. kTooLarge beyond kJoinedRowsMax.
Result<Joined> Join(std::vector<TaggedTable> tables, const JoinSpec& spec, const JoinRules& rules);

// Largest first by <tag>::<sort>, absent last, ties as they stood. Without that column: as it is.
void SortDescending(const std::string& tag, const std::string& sort, Table* table);

// <name>_intersect_<v>, <name>_only_baseline_<v>, <name>_only_variant_<v> for each report v but the
// first: rows in both, in one of the two. They have the columns of the reports they are about.
std::vector<Table> SplitByPresence(Joined joined, const std::string& name, const JoinRules& rules);

// Rows with equal keys made one: `added` columns are summed, the others are of the first row.
Table AddUp(const Table& table, const std::vector<std::string>& keys,
            const std::vector<std::string>& added);

// The column's place; npos: there is none.
std::size_t ColumnOf(const Table& table, const std::string& column);
void DropColumns(const std::vector<std::string>& columns, Table* table);
// The cell's number, if it is one that is finite or infinite.
std::optional<double> NumberOf(const Cell& cell);

}  // namespace jarvis::analysis
