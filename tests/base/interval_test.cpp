#include "base/interval.h"

#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis {
namespace {

using Set = IntervalSet<double>;

TEST_CASE("Union") {
  CHECK(Union(Set{}).empty());
  CHECK(Union(Set{{0, 10}, {5, 15}, {20, 30}}) == Set{{0, 15}, {20, 30}});
  CHECK(Union(Set{{20, 30}, {5, 15}, {0, 10}}) == Set{{0, 15}, {20, 30}});
  CHECK(Union(Set{{0, 10}, {10, 20}}) == Set{{0, 20}});
  CHECK(Union(Set{{0, 100}, {10, 20}, {30, 40}}) == Set{{0, 100}});
}

// The rows that the reference's tests pin.
TEST_CASE("Subtract") {
  const auto check = [](const Set& from, const Set& what, const Set& left) {
    CHECK(Subtract(from, Union(what)) == left);
  };
  check({}, {{5, 15}}, {});
  check({}, {}, {});
  check({{10, 20}}, {{15, 16}}, {{10, 15}, {16, 20}});
  check({{10, 20}}, {{15, 16}, {17, 18}}, {{10, 15}, {16, 17}, {18, 20}});
  check({{10, 20}}, {{15, 16}, {16, 18}}, {{10, 15}, {18, 20}});
  check({{10, 20}}, {{9, 12}}, {{12, 20}});
  check({{10, 20}}, {{15, 22}}, {{10, 15}});
  check({{10, 20}}, {{15, 17}, {16, 18}}, {{10, 15}, {18, 20}});
  check({{10, 20}}, {{10, 20}}, {});
  check({{10, 20}}, {{0, 30}}, {});
  check({{10, 20}, {30, 40}}, {{15, 35}}, {{10, 15}, {35, 40}});
  check({{10, 20}}, {}, {{10, 20}});
}

TEST_CASE("against one flag a unit of time, for random sets") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<Interval<std::int64_t>> sets[2];
    std::vector<bool> flags[2] = {std::vector<bool>(100), std::vector<bool>(100)};
    for (int s = 0; s < 2; ++s) {
      for (unsigned n = random() % 8; n > 0; --n) {
        const auto start = static_cast<std::int64_t>(random() % 90);
        const auto end = start + static_cast<std::int64_t>(random() % 10);
        sets[s].push_back({start, end});
        for (auto t = start; t < end; ++t)
          flags[s][static_cast<std::size_t>(t)] = true;
      }
    }
    std::int64_t both = 0;
    std::int64_t left = 0;
    for (std::size_t t = 0; t < 100; ++t) {
      both += flags[0][t] || flags[1][t] ? 1 : 0;
      left += flags[0][t] && !flags[1][t] ? 1 : 0;
    }
    CHECK(Length(Subtract(Union(sets[0]), Union(sets[1]))) == left);
    sets[0].insert(sets[0].end(), sets[1].begin(), sets[1].end());
    CHECK(Length(Union(sets[0])) == both);
    std::vector<Interval<std::int64_t>> one_by_one;
    for (const auto& interval : sets[0])
      AddInterval(interval, &one_by_one);
    CHECK(Union(one_by_one) == Union(sets[0]));
  }
}

}  // namespace
}  // namespace jarvis
