// The tables about work on a trace whose numbers are worked out by hand. Two products of one shape
// and one of another; a sum whose dtype nothing knows; an operator without a model; unlinked work.
//
//   aten::mm (1000,1000) x (1000,1000), fp32   2 * 10^9 FLOPs, 12 * 10^6 bytes: 10 us, 30 us
//   aten::mm (100,1000) x (1000,1000), fp32    2 * 10^8 FLOPs, 4.8 * 10^6 bytes: 5 us
#include "analysis/tables/work_tables.h"

#include <string>

#include <doctest/doctest.h>

#include "analysis/tables/family_table.h"
#include "analysis/tables/unified_table.h"
#include "support/table_rows.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::HasColumn;
using testing::Load;
using testing::Loaded;
using testing::Rows;
using testing::TraceText;

constexpr const char* kLarge =
    R"("Input Dims":[[1000,1000],[1000,1000]],"Input type":["float","float"])";
constexpr const char* kSmall =
    R"("Input Dims":[[100,1000],[1000,1000]],"Input type":["float","float"])";

TraceText WorkText() {
  TraceText t;
  t.Meta("thread_name", R"("name":"main")");
  t.OpWithKernel("aten::mm", 0, 10, "gemm", 1000, 10, 1, kLarge);
  t.OpWithKernel("aten::mm", 20, 10, "gemm", 1100, 30, 2, kLarge);
  t.OpWithKernel("aten::mm", 40, 20, "gemm", 1200, 5, 3, kSmall);
  t.OpWithKernel("aten::relu", 60, 10, "relu", 1300, 4, 4,
                 R"("Input Dims":[[500]],"Input type":["Martian"])");
  t.OpWithKernel("custom", 80, 10, "strange", 1400, 3, 5, R"("Input Dims":[[7]])");
  return t.Kernel("lost", 1500, 2, 99);
}

struct MadeWork {
  explicit MadeWork(const TraceText& text = WorkText()) : loaded(Load(text)) {}

  Table Unified(const WorkTableOptions& options = {}) const {
    return UnifiedPerfSummary(input, calls, options);
  }
  // Of the calls with metrics whose model's sheet is this one.
  Table Family(const std::string& name, const WorkTableOptions& options = {}) const {
    std::vector<const WorkCall*> family;
    for (const WorkCall& call : calls) {
      if (call.model != nullptr && call.model->sheet == name && call.work->flops)
        family.push_back(&call);
    }
    return FamilyTable(input, name, family, options);
  }

  Loaded loaded;
  Attribution attribution = Attribute(loaded.events(), loaded.tree);
  OpWorks works{loaded.events(), perf::BuiltinRows()};
  std::vector<WorkCall> calls =
      CollectWorkCalls({loaded.events(), loaded.tree, attribution, works});
  TableRules rules;
  TableInput input{loaded.events(), loaded.trace.track_names, attribution, rules};
};

perf::Platform Platform() {
  perf::Platform platform;
  platform.mem_bw_gbps = 1000;
  platform.peak_tflops["matrix_fp32"] = {100, perf::Source::kPeak};
  return platform;
}

TEST_CASE("unified_perf_summary: all GPU work once, by time") {
  const MadeWork made;
  const Table table = made.Unified();
  CHECK(table.name == "unified_perf_summary");
  CHECK(Rows(table, {"name", "op category", "thread_name", "Input Dims", "operation_count",
                     "Kernel Time (µs)_sum", "Percentage (%)", "has_perf_model"}) ==
        "aten::mm | GEMM | main | ((1000, 1000), (1000, 1000)) | 2 | 40 | 74.074074 | True\n"
        "aten::mm | GEMM | main | ((100, 1000), (1000, 1000)) | 1 | 5 | 9.259259 | True\n"
        "aten::relu | elementwise | main | ((500,),) | 1 | 4 | 7.407407 | True\n"
        "custom | other | main | ((7,),) | 1 | 3 | 5.555556 | False\n"
        "(unlinked) lost | unlinked | Unknown | - | 1 | 2 | 3.703704 | False\n");
  // Of the host's time; unlinked work has none, and that is absent, not 0.
  CHECK(Rows(table, {"total_duration_us", "mean_duration_us"}) ==
        "20 | 10\n20 | 20\n10 | 10\n10 | 10\n- | -\n");
}

TEST_CASE("unified_perf_summary: metrics, absent where they are not known") {
  const Table table = MadeWork().Unified();
  CHECK(Rows(table, {"GFLOPS", "Data Moved (MB)", "FLOPS/Byte", "Compute Spec"}) ==
        "2 | 12 | 166.666667 | matrix_fp32\n"
        "0.2 | 4.8 | 41.666667 | matrix_fp32\n"
        "0 | - | - | \n"
        "- | - | - | -\n"
        "- | - | - | -\n");
  // Two calls of 10 and 30 us: 200 and 66.7 TFLOPS/s.
  CHECK(Rows(table, {"TFLOPS/s_mean", "TFLOPS/s_median", "TFLOPS/s_min", "TFLOPS/s_max",
                     "TFLOPS/s_std", "TB/s_mean"}) ==
        "133.333333 | 133.333333 | 66.666667 | 200 | 94.280904 | 0.8\n"
        "40 | 40 | 40 | 40 | - | 0.96\n"
        "0.000125 | 0.000125 | 0.000125 | 0.000125 | - | -\n"
        "- | - | - | - | - | -\n"
        "- | - | - | - | - | -\n");
  CHECK(Rows(table, {"perf_params"}).find("{'M': 1000, 'N': 1000, 'K': 1000, 'bias': False") == 0);
}

TEST_CASE("columns of the roof only with a platform, cells only where it has a roof") {
  CHECK_FALSE(HasColumn(MadeWork().Unified(), "Pct Roofline_mean"));
  CHECK_FALSE(HasColumn(MadeWork().Unified(), "Roofline Bound"));
  const perf::Platform platform = Platform();
  WorkTableOptions options;
  options.metrics.platform = &platform;
  const Table table = MadeWork().Unified(options);
  // 2 * 10^9 / 10^14 = 20 us, 12 * 10^6 / 10^12 = 12 us; 2 us and 4.8 us.
  CHECK(Rows(table, {"Roofline Bound", "Roofline Time (µs)_first", "Pct Roofline_mean",
                     "Pct Roofline_min", "Pct Roofline_max"}) ==
        "COMPUTE_BOUND | 20 | 133.333333 | 66.666667 | 200\n"
        "MEMORY_BOUND | 4.8 | 96 | 96 | 96\n"
        "- | - | - | - | -\n"
        "- | - | - | - | -\n"
        "- | - | - | - | -\n");
}

TEST_CASE("no metrics at all: no columns for them") {
  TraceText text;
  text.OpWithKernel("custom", 80, 10, "strange", 1400, 3, 5);
  const Table table = MadeWork(text).Unified();
  CHECK(table.rows.size() == 1);
  for (const char* column : {"GFLOPS", "TB/s_mean", "TFLOPS/s_mean"})
    CHECK_FALSE(HasColumn(table, column));
  CHECK(HasColumn(table, "has_perf_model"));
}

TEST_CASE("the first known value of a row") {
  // The kernel's name says how wide a copied list's elements are; the first call has no such name.
  MadeWork made;
  perf::OpWork unknown = *made.calls[0].work;
  unknown.bytes.reset();
  unknown.flops.reset();
  made.calls[0].work = &unknown;
  const Table table = made.Unified();
  CHECK(Rows(table, {"name", "operation_count", "GFLOPS", "Data Moved (MB)", "TFLOPS/s_mean",
                     "TFLOPS/s_max"})
            .find("aten::mm | 2 | 2 | 12 | 66.666667 | 66.666667\n") == 0);
}

TEST_CASE("megabytes are 10^6 bytes, or 2^20 by rule") {
  MadeWork made;
  made.rules.megabyte = 1024 * 1024;
  CHECK(Rows(made.Unified(), {"Data Moved (MB)"}).find("11.444092\n4.577637\n") == 0);
  CHECK(Rows(made.Family("GEMM"), {"Data Moved (MB)_first"}) == "11.444092\n4.577637\n");
}

TEST_CASE("recomputed calls are rows of their own") {
  MadeWork made;
  CHECK_FALSE(HasColumn(made.Unified(), "is_recompute"));
  std::vector<char> marks(made.loaded.events().size(), 0);
  marks[made.loaded.Find("aten::mm", 1)] = 1;
  made.input.recompute = &marks;
  CHECK(Rows(made.Unified(), {"name", "is_recompute", "Kernel Time (µs)_sum"}) ==
        "aten::mm | True | 30\naten::mm | False | 10\naten::mm | False | 5\n"
        "aten::relu | False | 4\ncustom | False | 3\n(unlinked) lost | False | 2\n");
  CHECK(Rows(made.Family("GEMM"), {"is_recompute", "Kernel Time (µs)_sum"}) ==
        "True | 30\nFalse | 10\nFalse | 5\n");
}

TEST_CASE("a family's table") {
  const MadeWork made;
  const Table table = made.Family("GEMM");
  CHECK(table.name == "GEMM");
  CHECK(Rows(table, {"name", "param: M", "param: N", "param: K", "GFLOPS_first",
                     "Data Moved (MB)_first", "TFLOPS/s_mean", "Kernel Time (µs)_mean",
                     "Kernel Time (µs)_sum", "name_count", "UID_first", "thread_name_first"}) ==
        "aten::mm | 1000 | 1000 | 1000 | 2 | 12 | 133.333333 | 20 | 40 | 2 | 1 | main\n"
        "aten::mm | 100 | 1000 | 1000 | 0.2 | 4.8 | 40 | 5 | 5 | 1 | 11 | main\n");
  CHECK_FALSE(HasColumn(table, "num_kernels"));
  CHECK_FALSE(HasColumn(table, "Roofline Bound_first"));
  WorkTableOptions by_kernels;
  by_kernels.num_kernels = true;
  CHECK(Rows(made.Family("GEMM", by_kernels), {"num_kernels"}) == "1\n1\n");
}

// A product of three dimensions has parameters that one of two has not, and the other way round.
TEST_CASE("parameters that a call does not have; numbers with a point only by rule") {
  perf::OpWork plain, fractional;
  plain.flops = fractional.flops = 1;
  plain.parameters = {{"M", {perf::Value::Kind::kInt, 8, 0, ""}},
                      {"only", {perf::Value::Kind::kInt, 3, 0, ""}},
                      {"text", {perf::Value::Kind::kText, 0, 0, "a"}}};
  fractional.parameters = {{"M", {perf::Value::Kind::kFloat, 0, 2.5, ""}},
                           {"late", {perf::Value::Kind::kBool, 1, 0, ""}}};
  MadeWork made;
  made.calls[0].work = &plain;
  made.calls[1].work = &fractional;
  const WorkCall* const calls[] = {&made.calls[0], &made.calls[1]};
  const std::vector<std::string> columns = {"param: M", "param: only", "param: text",
                                            "param: late"};
  CHECK(Rows(FamilyTable(made.input, "GEMM", calls, {}), columns) ==
        "2.5 | nan | nan | True\n8 | 3 | a | nan\n");
  made.rules.float_parameter_columns = true;
  CHECK(Rows(FamilyTable(made.input, "GEMM", calls, {}), columns) ==
        "2.5 | nan | nan | True\n8.0 | 3.0 | a | nan\n");
}

TEST_CASE("model_coverage: what has a model, then every reason why not") {
  CHECK(Rows(ModelCoverage(MadeWork().input, MadeWork().calls), {"op"}).find("(with a model)") ==
        0);
  TraceText text = WorkText();
  text.OpWithKernel("aten::mm", 200, 10, "gemm", 1600, 6, 6, R"("Input Dims":[[8,4],[5,16]])");
  text.OpWithKernel("aten::nonzero", 220, 10, "scan", 1700, 40, 7,
                    R"("Input Dims":[[8]],"Input type":["float"])");
  const MadeWork made(text);
  CHECK(Rows(ModelCoverage(made.input, made.calls),
             {"op", "why not", "calls", "time ms", "share of time (%)"}) ==
        "(with a model) | - | 4 | 0.049 | 49\n"
        "aten::nonzero | the size of the result depends on the data and is not recorded | 1 | 0.04 "
        "| 40\n"
        "aten::mm | shapes that do not multiply | 1 | 0.006 | 6\n"
        "custom | no model | 1 | 0.003 | 3\n"
        "(unlinked) | no launch call, so no op and no arguments | 1 | 0.002 | 2\n");
}

TEST_CASE("call stacks from the outermost caller down to the kernel") {
  TraceText text;
  text.Python("train.py(10): step", 0, 200).Module("Linear_3", 10, 100);
  text.OpWithKernel("aten::mm", 20, 10, "gemm", 1000, 10, 1, kLarge);
  text.Kernel("lost", 1500, 2, 99);
  const MadeWork made(text);
  CHECK_FALSE(HasColumn(made.Unified(), "call_stack_full"));
  WorkTableOptions options;
  options.call_stacks = true;
  options.parent = [&](EventIndex e) { return made.loaded.tree.parent(e); };
  const std::string rows = Rows(made.Unified(options), {"name", "call_stack_full", "entry_point"});
  CAPTURE(rows);
  CHECK(rows.find("nn.Module: Linear', 'aten::mm', 'gemm']") != std::string::npos);
}

TEST_CASE("the overlap forms keep calls with other partners apart, together in order") {
  const MadeWork made;
  std::vector<Overlap> overlaps(made.calls.size());
  WorkTableOptions options;
  options.overlaps = &overlaps;
  const Table table = made.Unified(options);
  CHECK(table.name == "unified_perf_summary_kl_overlap");
  CHECK(Rows(table, {"overlapping_kernel_names", "operation_count"}) ==
        "- | 2\n- | 1\n- | 1\n- | 1\n- | 1\n");
  const std::vector<Overlap> none(2);
  const WorkCall* const calls[] = {&made.calls[0], &made.calls[2]};
  options.overlaps = &none;
  const Table family = FamilyTable(made.input, "GEMM", calls, options);
  CHECK(family.name == "GEMM_kl_overlap");
  CHECK(HasColumn(family, "overlapping_kernels_details__summarize_kernel_stats"));
}

}  // namespace
}  // namespace jarvis::analysis
