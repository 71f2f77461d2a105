// The tables about ops and kernels on one small trace whose numbers are worked out by hand:
//
//   op               launches                       direct           subtree
//   aten::linear 1   (calls aten::mm 1)             -                -
//     aten::mm 1     gemm 30 [100,130]              30               30
//   aten::linear 2
//     aten::mm 2     gemm 34 [200,234]              34               34
//   aten::relu 1     elementwise 6 [300,306]        6                6
//   custom           nccl 20 [400,420]; calls       20               28
//     aten::relu 2   elementwise 8 [430,438]        8                8
//   (unlinked)       lost 2 [500,502]               2                2
//
// Sum 100, so that shares are the numbers: mm 64, custom 20, relu 14, lost 2.
#include "analysis/tables/ops_tables.h"

#include <string>

#include <doctest/doctest.h>

#include "analysis/tables/kernel_tables.h"
#include "support/table_rows.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::CellText;
using testing::Load;
using testing::Loaded;
using testing::Rows;
using testing::TraceText;

TraceText Text() {
  const char* relu = "void at::native::vectorized_elementwise_kernel<4>(int)";
  TraceText t;
  t.Meta("thread_name", R"("name":"main")");
  t.Op("aten::linear", 0, 20)
      .OpWithKernel("aten::mm", 2, 10, "gemm", 100, 30, 1, R"("Input Dims":[[8,4],[4,16]])");
  t.Op("aten::linear", 30, 20)
      .OpWithKernel("aten::mm", 32, 10, "gemm", 200, 34, 2, R"("Input Dims":[[8,4],[4,16]])");
  t.OpWithKernel("aten::relu", 60, 10, relu, 300, 6, 3,
                 R"("Input Dims":[[8]],"Input type":["float"])");
  t.Op("custom", 80, 40).Runtime("launch", 81, 2, 4).Kernel("ncclDevKernel", 400, 20, 4, 8);
  t.OpWithKernel("aten::relu", 90, 10, relu, 430, 8, 5,
                 R"("Input Dims":[[9]],"Input type":["float"])");
  return t.Kernel("lost", 500, 2, 99);
}

struct MadeTables {
  Loaded loaded = Load(Text());
  Attribution attribution = Attribute(loaded.events(), loaded.tree);
  TableRules rules;
  TableInput input{loaded.events(), loaded.trace.track_names, attribution, rules};
};

TEST_CASE("ops_summary") {
  const MadeTables made;
  CHECK(Rows(OpsSummary(made.input),
             {"name", "total_direct_kernel_time_sum", "total_subtree_kernel_time_sum", "Count",
              "Categories", "Percentage (%)", "Cumulative Percentage (%)"}) ==
        "aten::mm | 64 | 64 | 2 | ['GEMM'] | 64 | 64\n"
        "custom | 20 | 28 | 1 | ['other'] | 20 | 84\n"
        "aten::relu | 14 | 14 | 2 | ['elementwise'] | 14 | 98\n"
        "(unlinked) lost | 2 | 2 | 1 | ['unlinked'] | 2 | 100\n");
}

TEST_CASE("ops_summary_by_category") {
  const MadeTables made;
  CHECK(Rows(OpsSummaryByCategory(made.input),
             {"op category", "Count", "total_direct_kernel_time_ms", "Percentage (%)"}) ==
        "GEMM | 2 | 0.064 | 64\n"
        "other | 1 | 0.02 | 20\n"
        "elementwise | 2 | 0.014 | 14\n"
        "unlinked | 1 | 0.002 | 2\n");
}

TEST_CASE("ops_unique_args") {
  const MadeTables made;
  const Table table = OpsUniqueArgs(made.input, GroupUniqueArgs(made.input));
  CHECK(Rows(table,
             {"name", "Input Dims", "Input type", "operation_count",
              "total_direct_kernel_time_mean", "total_direct_kernel_time_sum", "thread_name"}) ==
        "aten::mm | ((8, 4), (4, 16)) | - | 2 | 32 | 64 | main\n"
        "custom | - | - | 1 | 20 | 20 | main\n"
        "aten::relu | ((9,),) | ('float',) | 1 | 8 | 8 | main\n"
        "aten::relu | ((8,),) | ('float',) | 1 | 6 | 6 | main\n"
        "(unlinked) lost | - | - | 1 | 2 | 2 | Unknown\n");
  CHECK(CellText(table.rows[0].at(static_cast<std::size_t>(
            std::find(table.columns.begin(), table.columns.end(), "trunc_kernel_details") -
            table.columns.begin()))) ==
        "[{'name': 'gemm', 'stream': 7, 'mean_duration_us': 32.0}]");
}

// TableCalls of one op: one kernel, two kernels, one kernel; the first of each runs beside "nccl".
TraceText TableCalls() {
  TraceText t;
  t.Module("Net_0", 0, 50).OpWithKernel("op", 5, 10, "a", 100, 10, 1);
  t.Module("Linear_1", 20, 20).Op("op", 22, 10);
  t.Runtime("launch", 23, 2, 2).Kernel("a", 200, 10, 2);
  t.Runtime("launch", 26, 2, 3).Kernel("b", 220, 30, 3);
  t.OpWithKernel("op", 60, 10, "a", 300, 20, 4);
  t.Op("comm", 80, 10).Runtime("launch", 82, 2, 5).Kernel("nccl", 95, 110, 5, 9);
  return t;
}

TEST_CASE("ops_unique_args, by number of kernels and with the time of the first call") {
  const Loaded loaded = Load(TableCalls());
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  const TableRules rules;
  const TableInput input{loaded.events(), loaded.trace.track_names, attribution, rules};
  const UniqueArgsOptions options{.num_kernels = true, .first_occurrence_time = true};
  CHECK(Rows(OpsUniqueArgs(input, GroupUniqueArgs(input, options), options),
             {"name", "num_kernels", "operation_count", "first_occurrence_time",
              "total_direct_kernel_time_sum"}) ==
        "comm | 1 | 1 | 75 | 110\n"
        "op | 2 | 1 | 17 | 40\n"
        "op | 1 | 2 | 0 | 30\n");
}

TEST_CASE("ops_unique_args_kl_overlap") {
  const Loaded loaded = Load(TableCalls());
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  const TableRules rules;
  const TableInput input{loaded.events(), loaded.trace.track_names, attribution, rules};
  Job job;
  const auto found = FindOverlaps(loaded.events(), attribution.timeline, {}, job);
  REQUIRE(found.has_value());
  std::vector<Overlap> overlaps;
  for (const Launcher& launcher : attribution.launchers)
    overlaps.push_back(OverlapOf(loaded.events(), *found, attribution.KernelsOf(launcher), rules));
  const UniqueArgsOptions options{.overlaps = &overlaps};
  const Table table = OpsUniqueArgs(input, GroupUniqueArgs(input, options), options);
  CHECK(table.name == "ops_unique_args_kl_overlap");
  CHECK(Rows(table, {"name", "overlapping_kernel_names", "operation_count", "overlap_pct_mean",
                     "overlap_pct_std", "overlap_pct_min"}) ==
        "comm | ['a'] | 1 | 0.14 | 0 | 0.14\n"
        "op | ['nccl'] | 2 | 0.56 | 0.622254 | 0.12\n"
        "op | - | 1 | - | - | -\n");
}

TEST_CASE("the tables of the report about inference") {
  const Loaded loaded = Load(TableCalls());
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  const TableRules rules;
  const LauncherModules modules = FindModules(loaded.events(), attribution,
                                              [&](EventIndex e) { return loaded.tree.parent(e); });
  TableInput input{loaded.events(), loaded.trace.track_names, attribution, rules};
  input.inference = true;
  CHECK(Rows(OpsSummary(input), {"name", "total_subtree_kernel_time_count", "Count"}) ==
        "comm | 1 | 1\nop | 3 | 3\n");
  input.modules = &modules;
  const Table summary = OpsSummary(input);
  CHECK(Rows(summary, {"name", "parent_module", "Count", "call_stack_first"}) ==
        "comm | NA | 1 | ['comm']\n"
        "op | nn.Module: Linear | 1 | ['op', 'nn.Module: Linear_1', 'nn.Module: Net_0']\n"
        "op | NA | 1 | ['op']\n"
        "op | nn.Module: Net | 1 | ['op', 'nn.Module: Net_0']\n");
  CHECK(std::find(summary.columns.begin(), summary.columns.end(), "total_subtree_kernel_time_ms") ==
        summary.columns.end());
  CHECK(Rows(OpsSummaryByCategory(input), {"op category", "parent_module", "Count"}) ==
        "other | NA | 2\nother | nn.Module: Linear | 1\nother | nn.Module: Net | 1\n");
  CHECK(Rows(OpsUniqueArgs(input, GroupUniqueArgs(input)), {"parent_module", "call_stack"}) ==
        "NA | ['comm']\n"
        "nn.Module: Linear | ['op', 'nn.Module: Linear_1', 'nn.Module: Net_0']\n"
        "NA | ['op']\n"
        "nn.Module: Net | ['op', 'nn.Module: Net_0']\n");
}

TEST_CASE("kernel_summary") {
  const MadeTables made;
  CHECK(Rows(KernelSummary(made.input, 200.0),
             {"Parent op category", "Parent cpu_op", "Kernel stream", "Kernel duration (µs)_sum",
              "Kernel duration (µs)_count", "Percent of kernels time (%)",
              "Percent of total time (%)"}) ==
        "GEMM | aten::mm | 7 | 64 | 2 | 64 | 32\n"
        "other | custom | 8 | 20 | 1 | 20 | 10\n"
        "elementwise | aten::relu | 7 | 14 | 2 | 14 | 7\n"
        "- | - | 7 | 2 | 1 | 2 | 1\n");
  CHECK(Rows(KernelSummary(made.input, {}), {"Percent of total time (%)"}) == "-\n-\n-\n-\n");
}

TEST_CASE("short kernels") {
  const MadeTables made;
  // Below 10: 6, 8, 2. Three bins of 2 over [2, 8]; the last includes its end.
  CHECK(Rows(ShortKernelHistogram(made.input, {10, 3, {}}), {"bin_start", "bin_end", "count"}) ==
        "2 | 4 | 1\n4 | 6 | 0\n6 | 8 | 2\n");
  CHECK(Rows(ShortKernelHistogram(made.input, {6, 2, {}}), {"bin_start", "bin_end", "count"}) ==
        "1.5 | 2 | 0\n2 | 2.5 | 1\n");
  CHECK(ShortKernelHistogram(made.input, {2, 3, {}}).rows.empty());
  const std::vector<std::string> columns = {"Parent cpu_op", "Short Kernel duration (µs) sum",
                                            "Short Kernel count",
                                            "Short Kernel duration (µs) percent of total time"};
  CHECK(Rows(ShortKernelsSummary(made.input, {}, 200.0), columns) ==
        "aten::relu | 8 | 1 | 4\naten::relu | 6 | 1 | 3\n- | 2 | 1 | 1\n");
  CHECK(ShortKernelsSummary(made.input, {10, 100, 1}, 200.0).rows.size() == 1);
  CHECK(ShortKernelsSummary(made.input, {10, 100, 0}, 200.0).rows.empty());
}

TEST_CASE("a trace without ops has tables without their columns") {
  const Loaded loaded = Load(
      TraceText().Runtime("cudaGraphLaunch", 0, 5, 1).Kernel("k", 10, 5, 1).Kernel("u", 20, 2, 9));
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  const TableRules rules;
  const TableInput input{loaded.events(), loaded.trace.track_names, attribution, rules};
  CHECK(Rows(KernelSummary(input, 100.0), {"Parent op category", "Kernel name"}) ==
        "graph | k\n- | u\n");
  const Table table = KernelSummary(input, 100.0);
  CHECK(std::find(table.columns.begin(), table.columns.end(), "Parent cpu_op") ==
        table.columns.end());
}

}  // namespace
}  // namespace jarvis::analysis
