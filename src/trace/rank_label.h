// What a name says of the rank that it belongs to: "rank3", "TP-1", "dp0_pp0_tp1", "[TP01] 1001".
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace jarvis::trace {

struct RankLabel {
  // Outermost first, as launchers number ranks: the last changes fastest.
  enum Word : std::size_t { kDp, kPp, kEp, kTp, kWords };

  std::optional<std::int64_t> rank;                             // "rank 3", "_r3"
  std::array<std::optional<std::int64_t>, kWords> coordinates;  // "TP-1"
  // A coordinate with a separator ("TP-1") is a place; without one ("tp8") it may be a size.
  bool separated = false;

  bool empty() const;
  friend auto operator<=>(const RankLabel&, const RankLabel&) = default;
};

RankLabel RankLabelIn(std::string_view text);

// The rank of each label among the others of one job. Absent: the label does not say. Coordinates
// that follow from others (the data-parallel rank that tensor-parallel ranks are grouped by) are
// told by numbers that would leave gaps.
std::vector<std::optional<std::int64_t>> RanksOfLabels(const std::vector<RankLabel>& labels);

}  // namespace jarvis::trace
