// What somebody sees first, and how a row of fixes is told in a sentence.
#include "documents/front.h"

#include <doctest/doctest.h>

namespace jarvis::documents {

TEST_CASE("what a fix saves is told once, unless it saves less after those above") {
  findings::Finding finding;
  FixRow row;
  row.findings = {&finding};
  row.alone = "2.80 to 6.33 ms";
  row.after = "2.80 to 6.33 ms (35% to 80%)";
  CHECK(SavesSentence(row) == "Saves 2.80 to 6.33 ms (35% to 80%).");
  row.alone = "up to 3.10 ms (upper bound; untested)";
  row.after = "up to 3.10 ms (8.1%)";
  CHECK(SavesSentence(row) == "Saves up to 3.10 ms (8.1%).");
  row.alone = "4.00 to 8.00 ms";
  CHECK(SavesSentence(row) ==
        "Saves 4.00 to 8.00 ms alone, up to 3.10 ms (8.1%) on top of the fixes above.");
  row.alike = true;
  CHECK(SavesSentence(row) == "Saves up to 3.10 ms (8.1%).");
  row.alike = false;
  row.alone = "at most 57.0 ms (53.3%)";
  row.after = "not in the total";
  CHECK(SavesSentence(row) == "Saves at most 57.0 ms (53.3%); not in the total.");
}

TEST_CASE("what shows only later says after what, and a change that costs time alone says that") {
  findings::Finding finding;
  FixRow row;
  row.findings = {&finding};
  row.alone = "almost nothing";
  row.after = "15.8 to 52.5 ms (4.1% to 13.6%)";
  row.until = "2";
  CHECK(SavesSentence(row) ==
        "Saves almost nothing alone, 15.8 to 52.5 ms (4.1% to 13.6%) on top of priority 2.");
  row.alone = kSlower;
  CHECK(SavesSentence(row) ==
        "Costs time alone; saves 15.8 to 52.5 ms (4.1% to 13.6%) on top of priority 2.");
}

TEST_CASE("a bound of no finding is a saving, too") {
  FixRow row;
  row.alone = "at most 13.2 ms";
  row.after = "not in the total";
  CHECK(SavesSentence(row) == "Saves at most 13.2 ms; not in the total.");
  row.alone = "size unknown";
  CHECK(SavesSentence(row) == "Size unknown; not in the total.");
}

TEST_CASE("a bound of two ways is told of each, and no absent total with it") {
  FixRow row;
  row.alone = "at most 25.4 ms (24.7%)";
  row.after = kAbsentText;
  row.ways = {{'B', "Balance", row.alone}, {'B', "Overlap", "at most 27.3 ms (26.5%)"}};
  CHECK(WaySaves(row, row.ways[0]) == "Saves at most 25.4 ms (24.7%).");
  CHECK(WaySaves(row, row.ways[1]) == "Saves at most 27.3 ms (26.5%).");
  row.after = "not in the total";
  CHECK(WaySaves(row, row.ways[0]) == "Saves at most 25.4 ms (24.7%); not in the total.");
}

TEST_CASE("of two ways each says what it saves, the first with its share") {
  findings::Finding finding;
  FixRow row;
  row.findings = {&finding};
  row.alone = "2.68 to 2.81 ms";
  row.after = "2.68 to 2.81 ms (8.0% to 8.4%)";
  row.ways = {{'B', "Compile", "2.68 to 2.81 ms"}, {'A', "Fuse", "1.00 to 1.20 ms"}};
  CHECK(SavesSentence(row).empty());
  CHECK(WaySaves(row, row.ways[0]) == "Saves 2.68 to 2.81 ms (8.0% to 8.4%).");
  CHECK(WaySaves(row, row.ways[1]) == "Saves 1.00 to 1.20 ms.");
  row.after = "0.10 to 0.20 ms (0.3% to 0.6%)";
  CHECK(WaySaves(row, row.ways[0]) ==
        "Saves 2.68 to 2.81 ms alone, 0.10 to 0.20 ms (0.3% to 0.6%) on top of the fixes above.");
  CHECK(WaySaves(row, row.ways[1]) == "Saves 1.00 to 1.20 ms alone.");
}

TEST_CASE("what is beside the fixes, and what nobody knows, is no saving") {
  FixRow row;
  row.alone = "latency stays the same";
  row.after = "about 6 times the throughput with 6 times the batch";
  CHECK(SavesSentence(row) ==
        "Latency stays the same; about 6 times the throughput with 6 times the batch.");
  row.alone = row.after = std::string("\xE2\x80\x94");
  CHECK(SavesSentence(row).empty());
}

TEST_CASE("a trace without GPU work says so, and nothing else") {
  const findings::Analysis nothing;
  const Front front = FrontOf(nothing, {});
  REQUIRE(front.summary.size() == 1);
  CHECK(front.summary.front().find("no GPU work") != std::string::npos);
  CHECK(front.parts.empty());
  CHECK(front.fixes.empty());
  CHECK(front.trust.empty());
}

}  // namespace jarvis::documents
