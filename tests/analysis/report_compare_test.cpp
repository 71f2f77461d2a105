#include "analysis/join/report_compare.h"

#include <map>

#include <doctest/doctest.h>

#include "analysis/join/compare_sheets.h"
#include "table/csv_reader.h"

namespace jarvis::analysis {
namespace {

Table Csv(const std::string& name, const std::string& text) {
  const auto table = ParseCsv(name, text);
  REQUIRE(table);
  return *table;
}

Cell At(const Table& table, std::size_t row, const std::string& column) {
  const std::size_t c = ColumnOf(table, column);
  REQUIRE_MESSAGE(c != std::string::npos, column);
  REQUIRE(row < table.rows.size());
  return table.rows[row][c];
}

JoinRules Reference() {
  JoinRules rules;
  rules.pair_equal_keys = false;
  rules.ratios_both_ways = false;
  rules.presence_by_row = false;
  rules.keep_empty_columns = false;
  rules.widen_integers = true;
  return rules;
}

const JoinSpec kByName = {{"name"}, {"ms", "count"}, "ms"};

TEST_CASE("differences in both directions, and absent where they are not known") {
  const std::vector<TaggedTable> tables = {
      {"old", Csv("t", "name,ms,count\na,4,2\nb,0,1\nc,5,1\n")},
      {"new", Csv("t", "name,ms,count\nd,1,1\nb,3,1\na,6.0,2\n")}};
  const Joined joined = *Join(tables, kByName, {});
  CHECK(joined.table.columns ==
        std::vector<std::string>{"name", "ms__new_minus_old", "ms__new_over_old",
                                 "ms__old_over_new", "count__new_minus_old", "count__new_over_old",
                                 "count__old_over_new", "old::ms", "old::count", "new::ms",
                                 "new::count"});
  REQUIRE(joined.table.rows.size() == 4);  // a b c d
  CHECK(At(joined.table, 0, "ms__new_minus_old") == Cell(2.0));
  CHECK(At(joined.table, 0, "ms__new_over_old") == Cell(1.5));
  CHECK(At(joined.table, 0, "ms__old_over_new") == Cell(4.0 / 6.0));
  CHECK(At(joined.table, 0, "count__new_minus_old") == Cell(std::int64_t{0}));
  // Nothing is a multiple of zero.
  CHECK(At(joined.table, 1, "ms__new_minus_old") == Cell(3.0));
  CHECK(At(joined.table, 1, "ms__new_over_old") == Cell());
  CHECK(At(joined.table, 1, "ms__old_over_new") == Cell(0.0));
  CHECK(At(joined.table, 2, "new::ms") == Cell());
  CHECK(At(joined.table, 2, "ms__new_minus_old") == Cell());
  CHECK(At(joined.table, 3, "old::count") == Cell());
  CHECK(joined.present == std::vector<std::uint64_t>{3, 3, 1, 2});
}

TEST_CASE("equal keys: paired by default, multiplied by the reference") {
  const std::vector<TaggedTable> tables = {
      {"old", Csv("t", "name,ms,count\nk,1,1\nk,2,1\n")},
      {"new", Csv("t", "name,ms,count\nk,10,1\nk,20,1\nk,30,1\n")}};
  const Joined paired = *Join(tables, kByName, {});
  REQUIRE(paired.table.rows.size() == 3);
  CHECK(At(paired.table, 0, "ms__new_minus_old") == Cell(std::int64_t{9}));
  CHECK(At(paired.table, 1, "ms__new_minus_old") == Cell(std::int64_t{18}));
  CHECK(At(paired.table, 2, "old::ms") == Cell());
  const Joined product = *Join(tables, kByName, Reference());
  REQUIRE(product.table.rows.size() == 6);
  CHECK(At(product.table, 0, "ms__new_pct") == Cell(900.0));
}

TEST_CASE("equal keys cannot multiply without end") {
  std::string text = "name,ms,count\n";
  for (int i = 0; i < 1001; ++i)
    text += "k,1,1\n";
  const std::vector<TaggedTable> tables = {{"old", Csv("t", text)}, {"new", Csv("t", text)}};
  CHECK(Join(tables, kByName, {})->table.rows.size() == 1001);
  CHECK(Join(tables, kByName, Reference()).error().code == ErrorCode::kTooLarge);
}

TEST_CASE("keys compare by value, and absent equals absent") {
  const std::vector<TaggedTable> tables = {{"a", Csv("t", "name,dims,ms\nx,1,1\nx,,2\ny,,3\n")},
                                           {"b", Csv("t", "name,dims,ms\nx,1.0,4\nx,,5\n,,6\n")}};
  const Joined joined = *Join(tables, {{"name", "dims"}, {"ms"}, "ms"}, {});
  REQUIRE(joined.table.rows.size() == 4);
  CHECK(joined.present == std::vector<std::uint64_t>{3, 3, 1, 2});
}

TEST_CASE("three reports, and columns that differ") {
  const std::vector<TaggedTable> tables = {{"a", Csv("t", "name,ms\nx,1\n")},
                                           {"b", Csv("t", "name,ms,extra\nx,2,e\ny,5,f\n")},
                                           {"c", Csv("t", "name,other\nx,7\n")}};
  const Joined joined = *Join(tables, kByName, {});
  CHECK(ColumnOf(joined.table, "ms__b_minus_a") != std::string::npos);
  CHECK(ColumnOf(joined.table, "ms__c_minus_a") == std::string::npos);
  const std::vector<Table> split = SplitByPresence(joined, "t", {});
  REQUIRE(split.size() == 6);
  CHECK(split[0].name == "t_intersect_b");
  CHECK(split[0].rows.size() == 1);
  CHECK(ColumnOf(split[0], "c::other") == std::string::npos);
  CHECK(split[2].name == "t_only_variant_b");
  REQUIRE(split[2].rows.size() == 1);
  CHECK(split[2].columns == std::vector<std::string>{"name", "b::ms", "b::extra"});
  CHECK(split[3].name == "t_intersect_c");
  CHECK(split[5].rows.empty());
  CHECK(split[5].columns == std::vector<std::string>{"name", "c::other"});
}

TEST_CASE("a split table without rows has no columns in the reference's way") {
  const std::vector<TaggedTable> tables = {{"a", Csv("t", "name,ms,count\nx,1,1\n")},
                                           {"b", Csv("t", "name,ms,count\nx,2,\ny,,1\n")}};
  const std::vector<Table> split =
      SplitByPresence(*Join(tables, kByName, Reference()), "t", Reference());
  CHECK(split[0].rows.size() == 1);
  // b::count has no value there.
  CHECK(ColumnOf(split[0], "b::count") == std::string::npos);
  CHECK(split[1].columns.empty());
  // y has no time, so for the reference it is in neither.
  CHECK(split[2].columns.empty());
}

TEST_CASE("sorted by the baseline's time, absent last, ties as they stood") {
  Table table = Csv("t", "name,a::ms\nx,\ny,1\nz,3\nw,1\n");
  SortDescending("a", "ms", &table);
  std::string order;
  for (const auto& row : table.rows)
    order += std::get<std::string>(row[0]);
  CHECK(order == "zywx");
}

TEST_CASE("rows with equal keys are added up") {
  const Table table = AddUp(Csv("t", "k,n,ms,text\na,1,0.5,x\nb,2,,y\na,3,1.5,z\nb,4,2,y\n"), {"k"},
                            {"n", "ms", "missing"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] ==
        std::vector<Cell>{std::string("a"), std::int64_t{4}, 2.0, std::string("x")});
  CHECK(table.rows[1] ==
        std::vector<Cell>{std::string("b"), std::int64_t{6}, 2.0, std::string("y")});
}

std::vector<ReportTables> Reports() {
  const std::string kernels =
      "Parent op category,Parent cpu_op,Kernel name,Kernel stream,Kernel duration (µs)_sum,"
      "Kernel duration (µs)_count,Kernel duration (µs)_mean,Kernel duration (µs)_min\n";
  const Table timeline = Csv("gpu_timeline", "type,time ms,percent\nbusy_time,3,60\nidle,2,40\n");
  return {{"old",
           {timeline, Csv("kernel_summary", kernels + "GEMM,mm,k,7,10,2,5,4\nGEMM,mm,k,8,2,1,2,2\n"
                                                      "GEMM,addmm,k,7,1,1,1,1\n")}},
          {"new", {timeline, Csv("kernel_summary", kernels + "GEMM,mm,k,0,24,3,8,4\n")}}};
}

std::map<std::string, Table> ByName(const ComparedSheets& sheets) {
  std::map<std::string, Table> tables;
  for (const Table& table : sheets.tables)
    tables[table.name] = table;
  return tables;
}

TEST_CASE("kernels are joined below their op, all streams together") {
  const auto sheets = CompareSheets(Reports(), {}, {});
  REQUIRE(sheets.has_value());
  auto tables = ByName(*sheets);
  CHECK(tables.size() == 2);
  const Table& kernels = tables["kernel_summary"];
  REQUIRE(kernels.rows.size() == 2);
  CHECK(At(kernels, 0, "Parent cpu_op") == Cell(std::string("mm")));
  CHECK(At(kernels, 0, "old::Kernel duration (µs)_mean") == Cell(4.0));
  CHECK(At(kernels, 0, "Kernel duration (µs)_sum__new_over_old") == Cell(2.0));
  CHECK(At(kernels, 0, "Kernel duration (µs)_count__new_minus_old") == Cell(std::int64_t{0}));
  CHECK(ColumnOf(kernels, "old::Kernel stream") == std::string::npos);
  // What no report has is not missed when nobody asked for it by name.
  CHECK(sheets->notes.empty());
}

TEST_CASE("a sheet that a report lacks is left out with a note") {
  std::vector<ReportTables> reports = Reports();
  reports[1].tables.pop_back();
  reports[0].tables.push_back(
      Csv("GEMM", "name,param: M,Kernel Time (µs)_sum,name_count\nmm,8,5,1\n"));
  const auto sheets = CompareSheets(reports, {}, {});
  REQUIRE(sheets.has_value());
  REQUIRE(sheets->notes.size() == 1);
  CHECK(sheets->notes[0] == "kernel_summary: not in new, so it is not compared");
  // A family without calls has no table: all of it is in one report.
  auto tables = ByName(*sheets);
  CHECK(tables["GEMM_only_baseline_new"].rows.size() == 1);
  CHECK(tables["GEMM_intersect_new"].rows.empty());
  const auto chosen = ChooseSheets({"ops_summary", "gpu_timeline"});
  REQUIRE(chosen.has_value());
  const auto some = CompareSheets(reports, *chosen, {});
  REQUIRE(some.has_value());
  CHECK(some->notes.size() == 1);
  CHECK(some->tables.size() == 1);
  CHECK_FALSE(ChooseSheets({"gpu_timelines"}).has_value());
}

TEST_CASE("the reference's rules refuse a missing sheet that was named, not one of all") {
  std::vector<ReportTables> reports = Reports();
  reports[1].tables.pop_back();
  CompareRules strict;
  strict.skip_missing = false;
  const auto all = CompareSheets(reports, {}, strict);
  REQUIRE(all.has_value());
  CHECK(all->notes ==
        std::vector<std::string>{"kernel_summary: not in new, so it is not compared"});
  const auto named = ChooseSheets({"kernel_summary"});
  REQUIRE(named.has_value());
  CHECK_FALSE(CompareSheets(reports, *named, strict).has_value());
  // Nothing in common is no comparison.
  for (ReportTables& report : reports)
    report.tables.resize(&report == &reports[0] ? 1 : 0);
  CHECK_FALSE(CompareSheets(reports, {}, strict).has_value());
  CHECK_FALSE(CompareSheets(reports, {}, {}).has_value());
}

}  // namespace
}  // namespace jarvis::analysis
