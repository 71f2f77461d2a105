#include "page/thin_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace jarvis::page {
namespace {

using ThinSpan = Interval<std::int64_t>;

constexpr std::int64_t kFirstLengthNs = 200;
// A joined piece may be so many times as long as what it is joined from: a busy stretch stays a row
// of pieces, not one block.
constexpr std::int64_t kLongestJoined = 8;

struct Part {
  std::vector<Row> rows;
  std::size_t pieces = 0;
};

bool Inside(const Piece& piece, const ThinSpan& focus) {
  return piece.end > focus.start && piece.start < focus.end;
}

Part Take(const std::vector<Row*>& rows, const ThinSpan& focus, bool inside) {
  Part part;
  for (const Row* row : rows) {
    Row& taken = part.rows.emplace_back();
    for (const Piece& piece : *row) {
      if (Inside(piece, focus) == inside) taken.push_back(piece);
    }
    part.pieces += taken.size();
  }
  return part;
}

void Join(const Piece& next, Piece* piece) {
  if (piece->count == 1) piece->busy = piece->longest = piece->end - piece->start;
  const bool one = next.count == 1;
  const std::int64_t longest = one ? next.end - next.start : next.longest;
  piece->busy += one ? next.end - next.start : next.busy;
  if (longest > piece->longest) {
    piece->longest = longest;
    piece->name = next.name;
    piece->kind = next.kind;
  }
  piece->end = std::max(piece->end, next.end);
  piece->count += next.count;
  piece->op = kNoOp;  // of several there is none to tell of
  piece->module = 0;
}

// Neighbours shorter than `length` that are nearer than it become one.
void JoinShorter(std::int64_t length, Part* part) {
  part->pieces = 0;
  for (Row& row : part->rows) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < row.size(); ++i) {
      const Piece& next = row[i];
      Piece& before = row[last];
      const auto is_short = [&](const Piece& piece) {
        return piece.count > 1 || piece.end - piece.start < length;
      };
      if (is_short(before) && is_short(next) && next.start - before.end < length &&
          next.end - before.start < kLongestJoined * length) {
        Join(next, &before);
      } else {
        row[++last] = next;
      }
    }
    if (!row.empty()) row.resize(last + 1);
    part->pieces += row.size();
  }
}

// Each pass works on what the one before has left.
void Fit(std::size_t most, Part* part) {
  for (std::int64_t length = kFirstLengthNs; part->pieces > most; length *= 2) {
    JoinShorter(length, part);
    if (length > (std::int64_t{1} << 60)) return;
  }
}

}  // namespace

void ThinRows(const std::vector<Row*>& rows, const ThinSpan& focus, std::size_t most) {
  std::size_t pieces = 0;
  for (const Row* row : rows)
    pieces += row->size();
  if (pieces <= most) return;
  Part inside = Take(rows, focus, true);
  Part outside = Take(rows, focus, false);
  const std::size_t half = most / 2;
  // What one of the two does not need is the other's.
  Fit(std::max(half, most - std::min(most, outside.pieces)), &inside);
  Fit(most - std::min(most, inside.pieces), &outside);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row all;
    std::merge(outside.rows[i].begin(), outside.rows[i].end(), inside.rows[i].begin(),
               inside.rows[i].end(), std::back_inserter(all),
               [](const Piece& a, const Piece& b) { return a.start < b.start; });
    *rows[i] = std::move(all);
  }
}

}  // namespace jarvis::page
