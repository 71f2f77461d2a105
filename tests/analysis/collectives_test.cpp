#include "analysis/tables/collectives.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

constexpr const char* kGather =
    R"("Collective name":"_allgather_base","In msg nelems":25136,"Out msg nelems":201088,)"
    R"("Group size":8,"dtype":"BFloat16","In split size":"[]","Out split size":"[]",)"
    R"("Process Group Name":"3","Process Group Ranks":"[0, 1, 2, 3, 4, 5, 6, 7]")";

Table Analysed(const TraceText& text, const TableRules& rules = {},
               std::optional<std::int64_t> rank = {}) {
  const Loaded loaded = Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  return CollAnalysis({loaded.events(), loaded.trace.track_names, attribution, rules}, rank);
}

// The cells of a row, the header's columns in order.
std::string RowText(const Table& table, std::size_t row) {
  std::string text;
  for (const Cell& cell : table.rows.at(row)) {
    text += text.empty() ? "" : " | ";
    if (const auto* words = std::get_if<std::string>(&cell)) text += *words;
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) text += std::to_string(*whole);
    if (const auto* number = std::get_if<double>(&cell)) text += fmt::format("{}", *number);
    if (cell == Cell()) text += "-";
  }
  return text;
}

TEST_CASE("one row a distinct collective") {
  TraceText text;
  text.Kernel("ncclDevKernel_AllGather", 0, 20, 1, 7, kGather);
  text.Kernel("ncclDevKernel_AllGather", 100, 30, 2, 7, kGather);
  text.Kernel("gemm", 200, 90, 3, 7).Kernel("ncclDevKernel_AllGather", 300, 70, 4, 8, kGather);
  const Table table = Analysed(text, {}, 5);
  CHECK(table.columns.size() == 19);
  REQUIRE(table.rows.size() == 2);
  const std::string keys =
      "5 | 3 | [0, 1, 2, 3, 4, 5, 6, 7] | _allgather_base | 8 | BFloat16 | 25136 | 201088 | [] | "
      "[]";
  const std::string sizes = "0.047943115234375 | 0.383544921875";
  CHECK(RowText(table, 0) == keys + " | 8 | " + sizes + " | 70 | 70 | - | 70 | 70 | 1");
  CHECK(RowText(table, 1) ==
        keys + " | 7 | " + sizes + " | 50 | 25 | 7.0710678118654755 | 20 | 30 | 2");
}

TEST_CASE("what was not recorded is empty") {
  TraceText text;
  text.Kernel("ncclDevKernel_AllReduce_Sum_f16", 0, 20, 1);
  text.Kernel("vllm_cross_device_reduce_kernel", 50, 10, 2);
  const Table table = Analysed(text);
  REQUIRE(table.rows.size() == 1);
  CHECK(RowText(table, 0) ==
        "- | - | - | allreduce | - | - | - | - | - | - | 7 | - | - | 30 | 15 | "
        "7.0710678118654755 | 10 | 20 | 2");
  TableRules strict;
  strict.drop_null_keys = true;
  CHECK(Analysed(text, strict).rows.empty());
  TableRules plain;
  plain.collectives.name_from_kernel = false;
  plain.collectives.name_missing_groups = true;
  plain.collectives.rank = 0;
  const Table named = Analysed(text, plain, 3);
  REQUIRE(named.rows.size() == 2);
  CHECK(RowText(named, 0).starts_with("0 | all | - | - | - "));
  CHECK(RowText(named, 1).starts_with("0 | all | - | allreduce | - "));
  text.Kernel("ncclDevKernel_AllReduce_Sum_f16", 90, 5, 3, 9);
  CHECK(RowText(Analysed(text, plain), 0).starts_with("0 | Unknown_Group | "));
}

TEST_CASE("no collective, no rows; values that are no text or number stay data") {
  TraceText text;
  CHECK(Analysed(text.Kernel("gemm", 0, 5, 1)).rows.empty());
  text.Kernel("ncclKernel", 10, 5, 2, 7,
              R"("Process Group Ranks":[0,1],"Group size":null,"dtype":7,"In msg nelems":1e999)");
  CHECK(RowText(Analysed(text), 0).starts_with("- | - | (0, 1) | - | - | 7 | "));
}

TEST_CASE("bytes of an element") {
  CHECK(CollectiveElementBytes("BFloat16") == 2);
  CHECK(CollectiveElementBytes("Float8_e4m3fn") == 1);
  CHECK_FALSE(CollectiveElementBytes("Unknown").has_value());
}

}  // namespace
}  // namespace jarvis::analysis
