// The report about one process, worked by hand.
#include "rocprof/report/report.h"

#include <string>

#include <doctest/doctest.h>

namespace jarvis::rocprof {
namespace {

// Kernels b (1 µs), a (2 µs, 4 µs) and a copy that overlaps nothing; 10 µs from first to last.
struct Run {
  Run() {
    capture.kernels = {"b_gemm", "a_copy"};
    const auto dispatch = [&](std::uint32_t kernel, std::int64_t start, std::int64_t end) {
      Dispatch one;
      one.kernel = kernel;
      one.start_ns = start;
      one.end_ns = end;
      process.dispatches.push_back(one);
    };
    dispatch(0, 1000, 2000);
    dispatch(1, 2000, 4000);
    dispatch(1, 3000, 7000);
    process.copies = {{10000, 11000}};
    process.init_ns = 0;
    process.fini_ns = 100000;
  }
  Table Sheet(std::string_view name, const ReportOptions& options) const {
    for (Table& table : MakeReport(capture, process, options)) {
      if (table.name == name) return table;
    }
    FAIL("no such sheet");
    return {};
  }

  Capture capture;
  Process process;
};

TEST_CASE("units are what the columns say") {
  const Run run;
  const ReportOptions options{.rules = {}, .short_kernel_us = 3, .histogram_bins = 2};
  const Table timeline = run.Sheet("gpu_timeline", options);
  REQUIRE(timeline.rows.size() == 5);
  CHECK(std::get<double>(timeline.rows[0][1]) == doctest::Approx(0.010));  // total
  CHECK(std::get<double>(timeline.rows[1][1]) == doctest::Approx(0.006));  // kernels, overlap once
  CHECK(std::get<double>(timeline.rows[2][1]) == doctest::Approx(0.001));
  CHECK(std::get<double>(timeline.rows[4][2]) == doctest::Approx(30));  // idle, percent
  const Table summary = run.Sheet("kernel_summary", options);
  REQUIRE(summary.rows.size() == 2);
  CHECK(summary.rows[0][0] == Cell("a_copy"));
  CHECK(std::get<double>(summary.rows[0][2]) == doctest::Approx(3));  // mean, µs
  CHECK(std::get<double>(summary.rows[0][8]) == doctest::Approx(600.0 / 7));
  CHECK(std::get<double>(summary.rows[1][8]) == doctest::Approx(100));  // cumulative
  CHECK(summary.rows[1][4] == Cell());                                  // one value, no spread
  const Table shorts = run.Sheet("short_kernels_summary", options);
  REQUIRE(shorts.rows.size() == 2);
  CHECK(std::get<double>(shorts.rows[0][4]) == doctest::Approx(20));  // 2 µs of 10
  const Table histogram = run.Sheet("short_kernel_histogram", options);
  REQUIRE(histogram.rows.size() == 2);
  CHECK(histogram.rows[0][2] == Cell(std::int64_t{1}));
  CHECK(histogram.rows[1][2] == Cell(std::int64_t{1}));
}

TEST_CASE("the reference's rules") {
  const Run run;
  const ReportOptions options{
      .rules = {.nanoseconds = true, .cumulate_by_name = true, .tool_span = true}};
  CHECK(std::get<double>(run.Sheet("gpu_timeline", options).rows[0][1]) == doctest::Approx(0.1));
  const Table summary = run.Sheet("kernel_summary", options);
  CHECK(std::get<double>(summary.rows[0][2]) == doctest::Approx(3000));
  CHECK(std::get<double>(summary.rows[0][9]) == doctest::Approx(6));
  CHECK(run.Sheet("short_kernels_summary", options).rows.empty());  // 50 ns
}

TEST_CASE("categories by words") {
  const std::pair<const char*, const char*> cases[] = {
      {"Cijk_gemm", "GEMM"},
      {"vectorized_elementwise_kernel", "Elementwise"},
      {"reduce_kernel_sum", "Reduction"},
      {"conv2d_fwd", "Convolution"},
      {"layer_norm_kernel", "Normalization"},
      {"flash_attn_fwd", "Attention"},
      {"MemcpyDtoD", "Memory"},
      {"ncclBroadcast", "COMM"},
      {"unknown_xyz", "Other"}};
  for (const auto& [kernel, category] : cases)
    CHECK(CategoryOfKernel(kernel) == category);
}

TEST_CASE("no kernels, no rows") {
  for (const Table& table : MakeReport({}, {}, {}))
    CHECK(table.rows.empty());
}

}  // namespace
}  // namespace jarvis::rocprof
