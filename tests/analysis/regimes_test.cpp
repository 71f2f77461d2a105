// Which units of a recording figures are of.
#include "analysis/frames/regimes.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::analysis {
namespace {

// "kept places / cycle", in milliseconds.
std::string RegimeText(const std::vector<std::int64_t>& ms) {
  std::vector<std::int64_t> ns;
  for (const std::int64_t one : ms)
    ns.push_back(one * 1'000'000);
  const Regimes found = FindRegimes(ns);
  std::string text;
  for (const std::size_t i : found.kept)
    text += (text.empty() ? "" : " ") + std::to_string(i);
  return text + " / " + std::to_string(found.cycle);
}

TEST_CASE("even units are all kept, cold ones and single odd ones are not") {
  CHECK(RegimeText({10}) == "0 / 1");
  CHECK(RegimeText({10, 10, 10, 10}) == "0 1 2 3 / 1");
  CHECK(RegimeText({90, 30, 10, 10, 10}) == "2 3 4 / 1");
  CHECK(RegimeText({10, 10, 10, 25, 10, 10, 10}) == "0 1 2 4 5 6 / 1");
  CHECK(RegimeText({10, 10, 10, 2, 10, 10}) == "0 1 2 4 5 / 1");
  // Few units that still warm up: the lower middle.
  CHECK(RegimeText({90, 35, 25}) == "2 / 1");
}

TEST_CASE("the majority is never dropped") {
  const std::vector<std::int64_t> scattered = {10, 20, 11, 24, 9, 30, 14, 8, 21};
  std::vector<std::int64_t> ns;
  for (const std::int64_t one : scattered)
    ns.push_back(one * 1'000'000);
  const Regimes found = FindRegimes(ns);
  CHECK(2 * found.kept.size() >= scattered.size() - (found.change ? found.change->at : 0));
}

TEST_CASE("a queue-fed head is another regime than what follows, and a cycle is kept whole") {
  // Six steps from a filled queue, then a loader of four workers.
  std::vector<std::int64_t> steps = {158, 158, 157, 158, 159, 158};
  for (int round = 0; round < 4; ++round)
    steps.insert(steps.end(), {300, 300, 420, 830});
  std::vector<std::int64_t> ns;
  for (const std::int64_t one : steps)
    ns.push_back(one * 1'000'000);
  const Regimes found = FindRegimes(ns);
  CHECK(found.cycle == 4);
  CHECK(found.kept.size() == 16);
  REQUIRE(found.change.has_value());
  // Two more units than a whole number of cycles: they are left out.
  ns.insert(ns.end(), {300'000'000, 300'000'000});
  CHECK(FindRegimes(ns).kept.size() == 16);
}

TEST_CASE("one change of pace ends a regime") {
  CHECK(RegimeText({20, 20, 20, 20, 10, 10, 10, 10, 10, 10}) == "4 5 6 7 8 9 / 1");
  // Noise is none.
  CHECK(RegimeText({10, 11, 10, 9, 10, 11, 10, 9, 10, 10}) == "0 1 2 3 4 5 6 7 8 9 / 1");
}

TEST_CASE("verdicts do not depend on the unit of time") {
  const std::vector<std::int64_t> steps = {90, 30, 10, 11, 10, 25, 10, 9, 10, 10, 10};
  std::vector<std::int64_t> a, b;
  for (const std::int64_t one : steps) {
    a.push_back(one * 1'000'000);
    b.push_back(one * 1'700'000);
  }
  CHECK(FindRegimes(a).kept == FindRegimes(b).kept);
}

}  // namespace
}  // namespace jarvis::analysis
