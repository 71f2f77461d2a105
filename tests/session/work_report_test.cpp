// The report's tables about work as a whole: nothing is lost or counted twice, and its options.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "analysis/attribution/work_calls.h"
#include "session/loaded_trace.h"
#include "session/report.h"
#include "support/table_rows.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"

namespace jarvis::session {
namespace {

using testing::HasColumn;
using testing::Rows;
using testing::TraceText;
using TracePtr = std::shared_ptr<const session::LoadedTrace>;

TracePtr Open(const std::string& path) {
  Job job;
  auto loaded = session::LoadTrace(path, 1, job);
  REQUIRE_MESSAGE(loaded.has_value(), (loaded ? "" : loaded.error().message));
  return *loaded;
}

TracePtr Open(const TraceText& text) {
  const testing::TempFolder folder;
  return Open(folder.Write("trace.json", text.Json()));
}

std::vector<Table> Report(const session::LoadedTrace& trace,
                          const session::ReportOptions& options) {
  Job job;
  auto tables = session::MakeReport(trace, options, job);
  REQUIRE_MESSAGE(tables.has_value(), (tables ? "" : tables.error().message));
  return *std::move(tables);
}

const Table* Find(const std::vector<Table>& tables, std::string_view name) {
  for (const Table& table : tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

double Sum(const Table& table, const std::string& column) {
  const auto at = std::find(table.columns.begin(), table.columns.end(), column);
  REQUIRE(at != table.columns.end());
  double sum = 0;
  for (const auto& row : table.rows)
    sum += std::get<double>(row[static_cast<std::size_t>(at - table.columns.begin())]);
  return sum;
}

constexpr const char* kExample = JARVIS_SOURCE_DIR "/examples/data/transformer_step.json.gz";

TEST_CASE("each GPU event is in one call, and the summary has all time of the launchers") {
  const TracePtr trace = Open(kExample);
  analysis::OpWorks works(trace->events(), perf::BuiltinRows());
  const auto calls =
      analysis::CollectWorkCalls({trace->events(), trace->tree(), trace->attribution(), works});
  std::vector<int> seen(trace->events().size(), 0);
  for (const analysis::WorkCall& call : calls) {
    for (const trace::EventIndex kernel : call.kernels)
      ++seen[kernel];
  }
  std::vector<int> expected(seen.size(), 0);
  for (const trace::EventIndex kernel : trace->attribution().timeline)
    expected[kernel] = 1;
  CHECK(seen == expected);

  for (const bool pseudo_ops : {false, true}) {
    session::ReportOptions options;
    options.pseudo_ops = pseudo_ops;
    const std::vector<Table> tables = Report(*trace, options);
    const Table* unified = Find(tables, "unified_perf_summary");
    const Table* ops = Find(tables, "ops_summary");
    const Table* coverage = Find(tables, "model_coverage");
    REQUIRE((unified != nullptr && ops != nullptr && coverage != nullptr));
    const double time = Sum(*unified, "Kernel Time (µs)_sum");
    CHECK(time == doctest::Approx(Sum(*ops, "total_direct_kernel_time_sum")).epsilon(1e-9));
    CHECK(time == doctest::Approx(Sum(*coverage, "time ms") * 1000).epsilon(1e-9));
  }
}

TraceText Products() {
  TraceText text;
  auto add = [&, n = 0](int size, int time) mutable {
    ++n;
    text.OpWithKernel("aten::mm", 100 * n, 50, "gemm", 100 * n + 60, time, n,
                      "\"Input Dims\":[[" + std::to_string(size) + ",8],[8,8]]," +
                          R"("Input type":["float","float"],"Input Strides":[[8,1],[8,1]],)" +
                          R"("Concrete Inputs":["",""])");
  };
  add(8, 10), add(16, 30), add(32, 20);
  return text;
}

TEST_CASE("the longest rows of the summary and of the families") {
  const TracePtr trace = Open(Products());
  session::ReportOptions options;
  CHECK(Rows(*Find(Report(*trace, options), "GEMM"), {"param: M"}) == "16\n32\n8\n");
  options.topk_ops = 2;
  options.topk_roofline_ops = 1;
  std::vector<Table> tables = Report(*trace, options);
  CHECK(Rows(*Find(tables, "unified_perf_summary"), {"Kernel Time (µs)_sum"}) == "30\n20\n");
  CHECK(Rows(*Find(tables, "GEMM"), {"param: M"}) == "16\n");
  CHECK(Rows(*Find(tables, "model_coverage"), {"calls"}) == "3\n");
  // P1: the reference reads these options and does nothing with them.
  options.compat = session::Compat::kTraceLens;
  tables = Report(*trace, options);
  CHECK(Find(tables, "unified_perf_summary")->rows.size() == 3);
  CHECK(Find(tables, "GEMM")->rows.size() == 3);
  CHECK(Find(tables, "model_coverage") == nullptr);
}

TEST_CASE("columns that options add") {
  const TracePtr trace = Open(Products());
  for (const session::Compat compat : {session::Compat::kNone, session::Compat::kTraceLens}) {
    session::ReportOptions options;
    options.compat = compat;
    std::vector<Table> tables = Report(*trace, options);
    const Table* unified = Find(tables, "unified_perf_summary");
    for (const char* column : {"Roofline Bound", "is_recompute", "call_stack_full"})
      CHECK_FALSE(HasColumn(*unified, column));
    CHECK_FALSE(HasColumn(*Find(tables, "GEMM"), "num_kernels"));
    options.platform = *perf::FindPlatform("MI300X");
    options.detect_recompute = true;
    options.include_call_stack = true;
    options.group_by_num_kernels = true;
    options.include_overlap_info = true;
    tables = Report(*trace, options);
    unified = Find(tables, "unified_perf_summary");
    for (const char* column : {"Roofline Bound", "Pct Roofline_mean", "is_recompute",
                               "call_stack_full", "entry_point"}) {
      CAPTURE(column);
      CHECK(HasColumn(*unified, column));
    }
    CHECK(HasColumn(*Find(tables, "GEMM"), "num_kernels"));
    CHECK(HasColumn(*Find(tables, "GEMM"), "Roofline Bound_first"));
    CHECK(Find(tables, "GEMM_kl_overlap") != nullptr);
    CHECK(Find(tables, "unified_perf_summary_kl_overlap") != nullptr);
  }
}

}  // namespace
}  // namespace jarvis::session
