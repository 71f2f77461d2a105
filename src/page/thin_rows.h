// Pieces of time in rows, and fewer of them where there are more than a viewer can draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interval.h"

namespace jarvis::page {

inline constexpr std::uint32_t kNoOp = 0xFFFFFFFFu;

// A piece of a row; several that lie close together where `count` is more than one.
struct Piece {
  std::int64_t start = 0;  // nanoseconds on the trace's clock
  std::int64_t end = 0;
  std::int64_t busy = 0;     // of several: their durations
  std::int64_t longest = 0;  // of several: the longest one's, whose name and kind stand here
  std::int64_t name = 0;     // of ScriptNames
  std::uint32_t op = kNoOp;  // of WorkTree::ops
  std::int64_t module = 0;   // of ScriptNames, plus one; 0: none
  std::uint32_t count = 1;
  std::uint8_t kind = 0;
};
using Row = std::vector<Piece>;  // by start

// Joins neighbours until at most `most` pieces are left in all rows, or no two are neighbours: what
// is shorter than some length and nearer than that, the smallest length that allows it. What lies
// within `focus` has half of the pieces, or what the rest leaves.
void ThinRows(const std::vector<Row*>& rows, const Interval<std::int64_t>& focus, std::size_t most);

}  // namespace jarvis::page
