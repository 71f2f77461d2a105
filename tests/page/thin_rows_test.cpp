#include "page/thin_rows.h"

#include <doctest/doctest.h>

namespace jarvis::page {
namespace {

Row Pieces(int count, std::int64_t length, std::int64_t period) {
  Row row;
  for (int i = 0; i < count; ++i) {
    Piece piece;
    piece.start = i * period;
    piece.end = piece.start + length;
    piece.name = i % 7;
    row.push_back(piece);
  }
  return row;
}

std::uint64_t Held(const Row& row) {
  std::uint64_t held = 0;
  for (const Piece& piece : row)
    held += piece.count;
  return held;
}

TEST_CASE("thin rows: what fits stays as it is") {
  Row row = Pieces(100, 500, 1000);
  ThinRows({&row}, {0, 100'000}, 100);
  CHECK(row.size() == 100);
  CHECK(row[3].count == 1);
}

TEST_CASE("thin rows: no piece is lost, and the busy time of several is known") {
  Row row = Pieces(10'000, 500, 1000);
  ThinRows({&row}, {0, 10'000'000}, 300);
  CHECK(row.size() <= 300);
  CHECK(row.size() > 30);  // a busy stretch stays a row of pieces
  CHECK(Held(row) == 10'000);
  for (std::size_t i = 1; i < row.size(); ++i)
    CHECK(row[i].start >= row[i - 1].end);
  CHECK(row[0].busy == static_cast<std::int64_t>(row[0].count) * 500);
}

TEST_CASE("thin rows: a long piece among short ones keeps its name and its op") {
  Row row = Pieces(4000, 500, 1000);
  Piece long_one;
  long_one.start = 4'000'000;
  long_one.end = 9'000'000;
  long_one.name = 77;
  long_one.op = 5;
  row.push_back(long_one);
  ThinRows({&row}, {0, 9'000'000}, 50);
  CHECK(row.size() <= 50);
  CHECK(row.back().name == 77);
  CHECK(row.back().op == 5);
  CHECK(row.back().count == 1);
}

TEST_CASE("thin rows: what is looked at keeps its detail") {
  Row row = Pieces(100'000, 500, 1000);
  ThinRows({&row}, {5'000'000, 5'100'000}, 400);
  std::size_t inside = 0;
  for (const Piece& piece : row)
    inside += piece.start >= 5'000'000 && piece.end <= 5'100'000 && piece.count == 1 ? 1 : 0;
  CHECK(inside == 100);
  CHECK(row.size() <= 400);
  CHECK(Held(row) == 100'000);
}

TEST_CASE("thin rows: rows of one piece each cannot be joined") {
  std::vector<Row> rows(40, Pieces(1, 500, 1000));
  std::vector<Row*> all;
  for (Row& row : rows)
    all.push_back(&row);
  ThinRows(all, {0, 1000}, 10);
  CHECK(rows[39].size() == 1);
}

}  // namespace
}  // namespace jarvis::page
