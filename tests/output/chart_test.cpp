#include "output/chart.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "output/chart_share.h"
#include "output/chart_stats.h"
#include "output/svg.h"

namespace jarvis::output {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t CountOf(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string Alone(Chart chart, ChartTheme theme = ChartTheme::kLight) {
  ChartSheet sheet;
  sheet.charts.push_back(std::move(chart));
  return RenderSheet(sheet, theme);
}

std::vector<Chart> OneOfEach(const std::string& label, double value) {
  const std::vector<std::optional<double>> y = {value, std::nullopt, value};
  return {
      {.title = label, .body = BoxPlot{{{label, {value, value}}}}},
      {.title = label, .body = ViolinPlot{{{label, {value, value}}}}},
      {.title = label, .body = LineChart{{label, "b", "c"}, {{label, y}}}},
      {.title = label, .body = BarChart{{label, "b", "c"}, {{label, y}}}},
      {.title = label, .body = BarChart{{label}, {{label, {value}}}, true, true, true}},
      {.title = label, .body = HeatMap{{label}, {label}, {value}, {}, true, true, label}},
      {.title = label, .body = ScatterPlot{{{label, {{value, value, label}}, true, true}}}},
      {.title = label, .body = TimelineStrip{{label}, {{label, {{label, 0, {{value, value}}}}}}}},
  };
}

TEST_CASE("quartiles are interpolated") {
  const std::vector<double> sorted = {1, 2, 3, 4};
  CHECK(Quantile(sorted, 0.25) == doctest::Approx(1.75));
  CHECK(Quantile(sorted, 0.5) == doctest::Approx(2.5));
  CHECK(Quantile(sorted, 1) == 4);
  CHECK(Quantile(std::vector<double>{7}, 0.3) == 7);
}

TEST_CASE("whiskers end at the last value within reach") {
  // Quartiles 2.25 and 4.75: reach -1.5 to 8.5.
  const auto box = BoxOf(std::vector<double>{4, 1, 20, 2, 3, kNan, 5}).value();
  CHECK(box.count == 6);
  CHECK(box.first_quartile == doctest::Approx(2.25));
  CHECK(box.median == doctest::Approx(3.5));
  CHECK(box.third_quartile == doctest::Approx(4.75));
  CHECK(box.low_whisker == 1);
  CHECK(box.high_whisker == 5);
  CHECK(box.outliers == std::vector<double>{20});
  CHECK(box.mean == doctest::Approx(35.0 / 6));
  CHECK_FALSE(BoxOf(std::vector<double>{kNan, kInf}).has_value());
}

TEST_CASE("density by Scott's rule") {
  // Deviation sqrt(5/3), bandwidth that times 4^-0.2: the densities at 0 and at 1.5 by hand.
  const auto density = DensityOf(std::vector<double>{0, 1, 2, 3});
  REQUIRE(density.size() == 100);
  CHECK(density.front().first == 0);
  CHECK(density.back().first == 3);
  const double width = std::sqrt(5.0 / 3) * std::pow(4.0, -0.2);
  const auto at = [&](double x) {
    double sum = 0;
    for (const double value : {0.0, 1.0, 2.0, 3.0})
      sum += std::exp(-0.5 * (x - value) * (x - value) / (width * width));
    return sum;
  };
  double most = 0;
  for (const auto& [x, share] : density)
    most = std::max(most, at(x));
  CHECK(density.front().second == doctest::Approx(at(0) / most));
  CHECK(density[50].second == doctest::Approx(at(density[50].first) / most));
  CHECK(DensityOf(std::vector<double>{2, 2, 2}).empty());
  CHECK(DensityOf(std::vector<double>{2}).empty());
}

TEST_CASE("a line fitted") {
  const std::vector<SvgPoint> points = {{0, 1}, {1, 3}, {2, 5}, {kNan, 100}};
  const auto fit = FitOf(points).value();
  CHECK(fit.slope == doctest::Approx(2));
  CHECK(fit.offset == doctest::Approx(1));
  CHECK(fit.r_squared == doctest::Approx(1));
  CHECK_FALSE(FitOf(std::vector<SvgPoint>{{1, 1}, {1, 2}}).has_value());
}

TEST_CASE("ticks") {
  const auto texts = [](const Limits& limits, std::size_t most) {
    std::string all;
    for (const Tick& tick : LinearTicks(limits, most))
      all += tick.text + " ";
    return all;
  };
  CHECK(texts({0, 400}, 6) == "0 100 200 300 400 ");
  CHECK(texts({22, 391}, 10) == "50 100 150 200 250 300 350 ");
  CHECK(texts({0.351, 0.91}, 4) == "0.4 0.6 0.8 ");
  CHECK(texts({-3, 3}, 4) == "-2 0 2 ");
  CHECK(texts({-0.3, 0.3}, 7) == "-0.3 -0.2 -0.1 0.0 0.1 0.2 0.3 ");
  CHECK(texts({5, 5}, 4) == "5 ");
  CHECK(texts({0, 3e9}, 4) == "0 1e+09 2e+09 3e+09 ");
  for (const double low : {-7e12, -1.0, 0.0, 1e-9, 123456.7}) {
    for (const double span : {1e-6, 0.37, 1.0, 99.0, 1e13}) {
      const Limits limits{low, low + span};
      const auto ticks = LinearTicks(limits, 8);
      CHECK(ticks.size() <= 8);
      CHECK(ticks.size() >= 1);
      for (const Tick& tick : ticks) {
        CHECK(tick.value >= limits.low - span * 1e-6);
        CHECK(tick.value <= limits.high + span * 1e-6);
      }
    }
  }
}

TEST_CASE("names along an axis") {
  const std::vector<std::string> few = {"28ch", "42ch", "56ch"};
  CHECK(LayOutNames(few, 100, 11).turned == 0);
  CHECK(LayOutNames(few, 100, 11).every == 1);
  const std::vector<std::string> ranks(64, "R10");
  CHECK(LayOutNames(ranks, 12, 11).turned == 0);
  CHECK(LayOutNames(ranks, 12, 11).every == 3);
  const std::vector<std::string> wide(4, "_reduce_scatter_base 67108864");
  CHECK(LayOutNames(wide, 100, 11).turned < 0);
  CHECK(LayOutNames(wide, 100, 11).every == 1);
  CHECK(LayOutNames(wide, 5, 11).every > 1);
  // Turned names end within the room there is.
  const NameLayout tight = LayOutNames(wide, 40, 11, {.left = 50, .below = 90});
  const double width = WordsWidth(Shortened(wide[0], tight.longest), 11);
  CHECK(tight.turned < 0);
  CHECK(width * 0.788 <= 50 + 20);
  CHECK(tight.height <= 90);
}

TEST_CASE("long names lose their middle") {
  CHECK(Shortened("short", 10) == "short");
  CHECK(Shortened("0123456789abcdef", 9) == "0123…cdef");
  CHECK(Shortened("ααααααααβ", 5) == "αα…αβ");
  CHECK(Shortened("two\nlines", 20) == "two lines");
}

TEST_CASE("charts without data say so") {
  CHECK(Has(RenderSheet({}), "no data"));
  for (const double value : {kNan, kInf}) {
    for (Chart& chart : OneOfEach("x", value)) {
      const std::string svg = Alone(std::move(chart));
      CHECK(Has(svg, "no data"));
      CHECK_FALSE(Has(svg, "nan"));
      CHECK_FALSE(Has(svg, "inf\""));
    }
  }
  ChartSheet empty;
  empty.charts = OneOfEach("x", kNan);
  CHECK_FALSE(HasData(empty));
  empty.charts.push_back(OneOfEach("x", 1).front());
  CHECK(HasData(empty));
}

TEST_CASE("texts are escaped, numbers of any size are drawn") {
  for (const double value : {0.0, -1e-300, 1e300, -5.0}) {
    for (Chart& chart : OneOfEach("<script>\"&'</script>", value)) {
      const std::string svg = Alone(std::move(chart));
      CHECK_FALSE(Has(svg, "<script"));
      CHECK(Has(svg, "&lt;script&gt;&quot;&amp;"));
      CHECK_FALSE(Has(svg, "nan"));
      CHECK(svg.ends_with("</svg>\n"));
    }
  }
}

TEST_CASE("what is missing in a line is a gap") {
  const std::string svg =
      Alone({.body = LineChart{{"a", "b", "c", "d", "e"}, {{"one", {1.0, 2.0, {}, 3.0, 4.0}}}}});
  CHECK(CountOf(svg, "<polyline") == 2);
  CHECK(CountOf(svg, "<circle") == 4 + 1);  // and one in the legend
}

TEST_CASE("bars by sign") {
  BarChart bars{{"a", "b"}, {{"", {-5.0, 5.0}}}};
  bars.by_sign = true;
  const auto colour_of_first = [&] {
    const std::string svg = Alone({.body = bars});
    return svg.find(kBetterColour, svg.find("worse")) < svg.find(kWorseColour, svg.find("worse"));
  };
  CHECK(colour_of_first());
  bars.lower_is_better = false;
  CHECK_FALSE(colour_of_first());
}

TEST_CASE("axes that sheets share") {
  const auto sheet = [](double low, double high) {
    ChartSheet one;
    one.charts.push_back({.title = "same", .body = BoxPlot{{{"g", {low, high}}}}});
    one.charts.push_back({.title = "map", .body = HeatMap{{"c"}, {"r"}, {high}, {}}});
    return one;
  };
  ChartSheet a = sheet(1, 10);
  ChartSheet b = sheet(5, 400);
  a.charts[0].y.limits = Limits{0.5, 0.5};  // asked for by whoever made the chart
  ChartSheet* const both[] = {&a, &b};
  ShareAxes(both);
  CHECK(b.charts[0].y.limits.value().low == 0.5);
  CHECK(a.charts[0].y.limits.value().low == 0.5);
  CHECK(a.charts[0].y.limits.value().high == 400);
  CHECK(std::get<HeatMap>(b.charts[1].body).range.value().low == 10);
  CHECK(Has(RenderSheet(a), ">400</text>"));
}

TEST_CASE("names that sheets share stand at the same places") {
  ChartSheet a;
  a.charts = {{.title = "lines", .body = LineChart{{"28ch", "100ch"}, {{"256", {1.0, 2.0}}}}},
              {.title = "boxes", .body = BoxPlot{{{"R10", {1}}}}},
              {.title = "map", .body = HeatMap{{"28"}, {"512"}, {7.0}, {}}}};
  ChartSheet b;
  b.charts = {{.title = "lines", .body = LineChart{{"42ch", "28ch"}, {{"512", {3.0, 4.0}}}}},
              {.title = "boxes", .body = BoxPlot{{{"R2", {1}}}}},
              {.title = "map", .body = HeatMap{{"42"}, {"256"}, {8.0}, {}}}};
  ChartSheet* const both[] = {&a, &b};
  ShareAxes(both);
  using Values = std::vector<std::optional<double>>;
  const auto& lines = std::get<LineChart>(b.charts[0].body);
  CHECK(lines.x == std::vector<std::string>{"28ch", "42ch", "100ch"});
  REQUIRE(lines.series.size() == 2);
  CHECK(lines.series[0].label == "256");
  CHECK(lines.series[0].y.empty());
  CHECK(lines.series[1].y == Values{4.0, 3.0, std::nullopt});
  CHECK(std::get<BoxPlot>(a.charts[1].body).groups[0].label == "R2");
  CHECK(std::get<BoxPlot>(a.charts[1].body).groups[0].values.empty());
  const auto& map = std::get<HeatMap>(a.charts[2].body);
  CHECK(map.rows == std::vector<std::string>{"256", "512"});
  CHECK(map.values == Values{{}, {}, 7.0, {}});
}

TEST_CASE("themes") {
  const Chart chart = OneOfEach("x", 1).front();
  CHECK(Has(Alone(chart, ChartTheme::kDark), "#16191d"));
  const std::string page = Alone(chart, ChartTheme::kPage);
  CHECK(page.starts_with("<svg "));
  CHECK(Has(page, "var(--ink)"));
  CHECK_FALSE(Has(page, "#222222"));
  CHECK(SeriesColour(0, 64) != SeriesColour(63, 64));
}

TEST_CASE("many points on one pixel are one") {
  ScatterPlot plot{{{"s", {}}}};
  for (int i = 0; i < 100000; ++i)
    plot.series[0].points.push_back({static_cast<double>(i % 50), static_cast<double>(i % 7), ""});
  CHECK(Alone({.body = plot}).size() < 100000);
}

TEST_CASE("a small chart, byte for byte") {
  ChartSheet sheet;
  sheet.width = 300;
  sheet.height = 200;
  sheet.charts.push_back({.title = "Spread",
                          .x = {.title = "Threads"},
                          .y = {.title = "us"},
                          .body = BoxPlot{{{"256", {1, 2, 3, 4, 20}}, {"512", {5}}}}});
  const std::string svg = RenderSheet(sheet);
  const std::string golden = JARVIS_SOURCE_DIR "/tests/output/golden/box_plot.svg";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << svg;
  std::ifstream file(golden);
  const std::string expected((std::istreambuf_iterator<char>(file)), {});
  CHECK(svg == expected);
}

// For tests/output/files_test.py.
TEST_CASE("samples") {
  const char* folder = std::getenv("JARVIS_SAMPLE_DIR");
  if (folder == nullptr) return;
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const double value : {kNan, 12.5}) {
    for (Chart& chart : OneOfEach("<script>alert(\"1\")</script> & a long name of a thing", value))
      std::ofstream(fmt::format("{}/chart_{}.svg", folder, number++)) << Alone(std::move(chart));
  }
}

}  // namespace
}  // namespace jarvis::output
