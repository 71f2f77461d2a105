#include "sweep/draw/plots.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "io/byte_source.h"
#include "output/chart_stats.h"
#include "output/png.h"
#include "sweep/draw/single_plots.h"
#include "sweep/page_support.h"
#include "table/csv_reader.h"

namespace jarvis::sweep {
namespace {

bool PlotHas(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const output::ChartSheet& SheetOf(const std::vector<SweepPlot>& plots, std::string_view name) {
  for (const SweepPlot& plot : plots) {
    if (plot.name == name) return plot.sheet;
  }
  FAIL("no plot ", name);
  return plots.front().sheet;
}

TEST_CASE("a sweep of threads and channels has the plots that people know") {
  const auto plots = MakeSweepPlots(SamplePlotData());
  const std::vector<PlotAxis> axes = {PlotAxisNamed("threads"), PlotAxisNamed("channels")};
  const std::vector<std::string> names = SweepPlotNames(axes);
  REQUIRE(plots.size() == names.size());
  for (std::size_t i = 0; i < plots.size(); ++i) {
    CHECK(plots[i].name == names[i]);
    CHECK_MESSAGE(output::HasData(plots[i].sheet), plots[i].name);
  }
  const std::vector<std::string> known = {
      "variance_by_threads_boxplot", "variance_by_channels_boxplot", "variance_by_ranks_boxplot",
      "variance_violin_combined", "variance_thread_channel_interaction"};
  CHECK(std::vector<std::string>(names.begin(), names.begin() + 5) == known);

  const output::Chart& threads = SheetOf(plots, "variance_by_threads_boxplot").charts.front();
  CHECK(threads.title == "GEMM Kernel Time Variance by Thread Count");
  CHECK(threads.x.title == "Thread Configuration");
  CHECK(threads.y.title == "Time Difference (us)");
  CHECK(std::get<output::BoxPlot>(threads.body).groups[0].label == "256 threads");
  const output::Chart& lines = SheetOf(plots, "variance_thread_channel_interaction").charts.front();
  CHECK(lines.title == "Thread-Channel Interaction: Mean Variance");
  CHECK(lines.x.title == "Channel Count");
  CHECK(lines.y.title == "Mean Time Difference (us)");
  CHECK(std::get<output::LineChart>(lines.body).x[0] == "28ch");
  CHECK(SheetOf(plots, "variance_violin_combined").charts.size() == 3);
}

TEST_CASE("other axes, in natural order, with gaps") {
  SweepPlotData data;
  data.axes = {PlotAxisNamed("algo"), PlotAxisNamed("buffers")};
  data.configs = {{{"Tree", "16"}, {}, {}, {}, {}, false},
                  {{"Ring", "4"}, {}, {}, {}, {}, false},
                  {{"Ring", "16"}, {}, {}, {}, {}, false}};
  data.variance = {{0, 10, 4}, {1, 2, 1}, {2, 2, 3}, {2, 10, 5}, {99, 0, 1e9}};
  const auto plots = MakeSweepPlots(data);
  const auto& lines = std::get<output::LineChart>(
      SheetOf(plots, "variance_algo_buffer_interaction").charts.front().body);
  CHECK(lines.x == std::vector<std::string>{"4", "16"});
  REQUIRE(lines.series.size() == 2);
  CHECK(lines.series[0].label == "Ring");
  CHECK(lines.series[0].y == std::vector<std::optional<double>>{1.0, 4.0});
  CHECK(lines.series[1].y == std::vector<std::optional<double>>{std::nullopt, 4.0});
  const auto& ranks =
      std::get<output::BoxPlot>(SheetOf(plots, "variance_by_ranks_boxplot").charts.front().body);
  CHECK(ranks.groups[1].label == "Rank 2");
  CHECK(ranks.groups[2].label == "Rank 10");
}

TEST_CASE("a sweep without anything has plots without data") {
  for (const SweepPlot& plot : MakeSweepPlots({})) {
    CHECK_FALSE(output::HasData(plot.sheet));
    CHECK(PlotHas(output::RenderSheet(plot.sheet), "no data"));
  }
}

TEST_CASE("launches are measured against clear ones of the same work") {
  SweepPlotData data;
  data.axes = {PlotAxisNamed("threads")};
  data.configs = {{{"256"}, {}, {}, {}, {}, false}};
  data.gemms = {{0, 0, 100, 0}, {0, 0, 110, 0}, {0, 0, 126, 0.5}, {0, 1, 7, 0.4}};
  const auto plots = MakeSweepPlots(data);
  const output::Chart& chart = SheetOf(plots, "gemm_duration_vs_overlap").charts.front();
  const auto& series = std::get<output::ScatterPlot>(chart.body).series;
  REQUIRE(series.size() == 1);
  REQUIRE(series[0].points.size() == 3);  // the other work never ran clear
  CHECK(series[0].points[2].x == doctest::Approx(50));
  CHECK(series[0].points[2].y == doctest::Approx(20));
  CHECK(chart.subtitle.starts_with("3 of 4 launches"));
}

TEST_CASE("the front holds what nothing beats in both") {
  SweepPlotData data;
  data.axes = {PlotAxisNamed("threads")};
  const auto config = [](const char* name, double comm, double slowdown) {
    return PlotConfig{{name}, {}, {}, comm, slowdown, false};
  };
  data.configs = {config("a", 3, 1), config("b", 1, 3), config("c", 2, 3), config("d", 2, 2)};
  const auto plots = MakeSweepPlots(data);
  const output::Chart& chart =
      SheetOf(plots, "pareto_exposed_comm_vs_gemm_slowdown").charts.front();
  const auto& front = std::get<output::ScatterPlot>(chart.body).series.at(2).points;
  REQUIRE(front.size() == 3);
  CHECK(front[0].x == 1);
  CHECK(front[1].x == 2);
  CHECK(front[1].y == 2);
  CHECK(front[2].y == 1);
}

TEST_CASE("bandwidth leaves out what is latency") {
  SweepPlotData data;
  data.axes = {PlotAxisNamed("channels")};
  data.configs = {{{"28"}, {}, {}, {}, {}, false}};
  data.bandwidth = {{0, "allreduce", 4, 0.001}};
  const auto lines_of = [&] {
    const auto plots = MakeSweepPlots(data);
    return std::get<output::LineChart>(
               SheetOf(plots, "bus_bandwidth_by_channels").charts.at(0).body)
        .series;
  };
  CHECK(lines_of().at(0).label == "allreduce 4 B");  // better than nothing
  data.bandwidth.push_back({0, "allreduce", 33554432, 200});
  REQUIRE(lines_of().size() == 1);
  CHECK(lines_of()[0].label == "allreduce 32 MiB");
}

TEST_CASE("the strip shows what ran at once") {
  SweepPlotData data;
  data.step = {{4, {{0, 10}, {20, 30}}, {{5, 22}}}};
  const auto plots = MakeSweepPlots(data);
  const auto& strip =
      std::get<output::TimelineStrip>(SheetOf(plots, "rank_timeline").charts.front().body);
  const auto& both = strip.rows.at(0).lanes.at(2).spans;
  REQUIRE(both.size() == 2);
  CHECK(both[0].low == 5);
  CHECK(both[0].high == 10);
  CHECK(both[1].low == 20);
  CHECK(both[1].high == 22);
}

TEST_CASE("a comparison of single runs, any number of them") {
  for (const std::size_t runs : {1U, 2U, 3U, 5U}) {
    const SinglePage page = SampleSinglePage(runs, false);
    const auto plots = MakeSinglePlots(page.runs);
    CHECK(plots.front().name == "improvement_chart");
    CHECK(SheetOf(plots, "improvement_chart").charts.size() == runs - 1);
    CHECK(output::HasData(SheetOf(plots, "idle_time_by_rank")));
    CHECK(output::HasData(SheetOf(plots, "NCCL_Bus_Bandwidth_comparison")));
  }
  CHECK(MakeSinglePlots({}).empty());
}

std::string WholeFile(const std::string& path) {
  const auto source = io::OpenBytes(path);
  REQUIRE_MESSAGE(source.has_value(), source.error().message);
  std::string text;
  std::vector<char> buffer(1 << 20);
  while (const std::size_t size = (*source)->Read(buffer).value_or(0))
    text.append(buffer.data(), size);
  return text;
}

TEST_CASE("groups of a real sweep have the figures that the reference prints") {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  const std::string expected = data == nullptr ? "" : std::string(data) + "/sweep/expected/";
  if (data == nullptr || !std::filesystem::exists(expected)) {
    MESSAGE("skipped: JARVIS_TEST_DATA has no sweep");
    return;
  }
  const auto table = ParseCsv("variance", WholeFile(expected + "sweep_20251121_155219/" +
                                                    "top5_gemm_kernels_time_variance.csv.gz"));
  REQUIRE(table.has_value());
  SweepPlotData sweep;
  sweep.axes = {PlotAxisNamed("threads"), PlotAxisNamed("channels")};
  std::map<std::vector<std::string>, std::size_t> configs;
  for (const std::vector<Cell>& row : table->rows) {
    const std::vector<std::string> at = {std::to_string(std::get<std::int64_t>(row[0])),
                                         std::to_string(std::get<std::int64_t>(row[1]))};
    const auto [config, added] = configs.try_emplace(at, sweep.configs.size());
    if (added) sweep.configs.push_back({at, {}, {}, {}, {}, false});
    sweep.variance.push_back(
        {config->second, std::get<std::int64_t>(row[2]), std::get<double>(row[6])});
  }
  // "  256 threads: mean=126.67us, median=90.96us, max=391.78us, n=160"
  const std::string console = WholeFile(expected + "console/A_plot.txt");
  std::size_t checked = 0;
  const auto plots = MakeSweepPlots(sweep);
  for (std::size_t i = 0; i < 3; ++i) {
    for (const output::ChartGroup& group :
         std::get<output::BoxPlot>(plots[i].sheet.charts.front().body).groups) {
      const auto box = output::BoxOf(group.values).value();
      const std::string line =
          fmt::format("  {}: mean={:.2f}us, median={:.2f}us, max={:.2f}us, n={}\n", group.label,
                      box.mean, box.median, box.high, box.count);
      CHECK_MESSAGE(PlotHas(console, line), line);
      ++checked;
    }
  }
  CHECK(checked == 14);
}

// For tests/sweep/pages_test.py and for looking at: RenderSheet and RenderPng on all of it.
TEST_CASE("samples of plots") {
  const char* folder = std::getenv("JARVIS_SAMPLE_DIR");
  if (folder == nullptr) return;
  std::filesystem::create_directories(folder);
  std::vector<SweepPlot> plots = MakeSweepPlots(SamplePlotData());
  for (SweepPlot& plot : MakeSinglePlots(SampleSinglePage(3, false).runs))
    plots.push_back(std::move(plot));
  for (const SweepPlot& plot : plots) {
    const std::string path = std::string(folder) + "/" + plot.name;
    const std::string svg = output::RenderSheet(plot.sheet);
    std::ofstream(path + ".svg") << svg;
    const auto png = output::RenderPng(svg, 1);
    REQUIRE(png.has_value());
    std::ofstream(path + ".png", std::ios::binary) << *png;
  }
}

}  // namespace
}  // namespace jarvis::sweep
