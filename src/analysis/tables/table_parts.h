// Pieces that several tables are made of.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/attribution/stats.h"
#include "base/string_pool.h"
#include "table/table.h"
#include "trace/event_store.h"

namespace jarvis::analysis {

// Appends each row's share of a column's sum, and the running share. The column holds doubles.
void AddPercentages(Table* table, std::size_t column);
inline constexpr std::size_t kPercentageColumns = 2;  // that it appends

// Argument lists as tuples, each text made once.
class ArgumentTexts {
 public:
  explicit ArgumentTexts(const trace::EventStore& events) : events_(events) {}

  // The tuple's id; kNoString if nothing was recorded.
  StringId Of(StringId raw);
  StringId Text(std::string_view text) { return pool_.Intern(text); }
  std::string_view operator[](StringId id) const { return pool_[id]; }
  Cell CellOf(StringId id) const { return id == kNoString ? Cell() : Cell(std::string(pool_[id])); }

 private:
  const trace::EventStore& events_;
  StringPool pool_;
  std::unordered_map<StringId, StringId> of_;
};

// Appends so many rows of at most so many cells; fill(i, cells) makes the i-th, from any thread.
void AppendRows(std::size_t count, std::size_t cells_max,
                const std::function<void(std::size_t i, std::vector<Cell>* cells)>& fill,
                Table* table);

// Moments of those values that are there; absent: none is.
std::optional<Moments> MomentsOf(const std::vector<std::optional<double>>& values);

// One moment of them, or an empty cell.
Cell MomentCell(const std::optional<Moments>& moments, double Moments::*which);
Cell StdCell(const std::optional<Moments>& moments);

}  // namespace jarvis::analysis
