#include "output/roofline_chart.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "output/chart.h"
#include "output/png.h"
#include "output/svg.h"

namespace jarvis::output {
namespace {

bool ChartHas(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("text in XML") {
  CHECK(XmlText("a<b> & \"c\"") == "a&lt;b&gt; &amp; &quot;c&quot;");
  CHECK(XmlText(std::string_view("nul\0", 4)) == "nul\xEF\xBF\xBD");
  CHECK(XmlText("\xFF\xEF\xBF\xBF") == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("lengths in SVG") {
  CHECK(SvgNumber(1) == "1");
  CHECK(SvgNumber(1.5) == "1.5");
  CHECK(SvgNumber(100) == "100");
  CHECK(SvgNumber(-0.001) == "0");
  CHECK(SvgNumber(1.0 / 3) == "0.33");
  CHECK(SvgNumber(std::numeric_limits<double>::quiet_NaN()) == "0");
  CHECK(SvgNumber(std::numeric_limits<double>::infinity()) == "0");
  CHECK(SvgNumber(1e300) == "10000000");
}

TEST_CASE("a roofline chart") {
  RooflineChart chart{"MI300X <bf16>", "achieved & roof", 5300, {}, {}};
  chart.roofs = {{"peak 1307.4 TFLOP/s", 1307.4, false}, {"achievable 708 TFLOP/s", 708, true}};
  chart.points = {{"aten::mm", "aten::mm\n391 us", 1638, 703, 391.0},
                  {"aten::bmm", "", 12, 30, 40.0},
                  {"decode", "not measured", 1, 5.3, std::nullopt},
                  {"copy", "", 0, 0, 5.0},
                  {"bad", "", std::numeric_limits<double>::quiet_NaN(), 1, 5.0}};
  const std::string svg = RenderRoofline(chart);
  CHECK(svg == RenderRoofline(chart));
  CHECK(ChartHas(svg, "MI300X &lt;bf16&gt;"));
  CHECK(ChartHas(svg, "ridge 246.7 FLOP/B"));
  CHECK(ChartHas(svg, "ridge 133.6 FLOP/B"));
  CHECK(ChartHas(svg, "<title>aten::mm\n391 us</title>"));
  CHECK(ChartHas(svg, "<title>aten::bmm</title>"));
  CHECK(ChartHas(svg, "memory 5300 GB/s"));
  CHECK(ChartHas(svg, "2 not drawn"));
  CHECK_FALSE(ChartHas(svg, "nan"));
  CHECK_FALSE(ChartHas(svg, "<script"));
  if (const char* folder = std::getenv("JARVIS_SAMPLE_DIR")) {
    std::filesystem::create_directories(folder);
    std::ofstream(std::string(folder) + "/roofline.svg") << svg;
    std::ofstream(std::string(folder) + "/roofline.png", std::ios::binary)
        << RenderPng(RenderRoofline(chart, ChartTheme::kDark), 1).value();
    std::ofstream(std::string(folder) + "/nothing.svg") << RenderRoofline({});
  }
}

std::size_t CircleCount(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST_CASE("of many points the largest are drawn, and the rest is counted") {
  RooflineChart chart{"many", "", 5300, {{"roof", 708, true}}, {}};
  for (int i = 1; i <= 4000; ++i) {
    chart.points.push_back(
        {"shape " + std::to_string(i), "", 1.0 + i, 0.1 * i, i == 1234 ? 4000.0 : 1.0 + 1e-6 * i});
  }
  const std::string svg = RenderRoofline(chart);
  CHECK(CircleCount(svg, "<circle") == kRooflinePointsMax);
  CHECK(ChartHas(svg, "<title>shape 1234</title>"));
  CHECK(ChartHas(svg, "<title>shape 4000</title>"));
  CHECK_FALSE(ChartHas(svg, "<title>shape 1</title>"));
  CHECK(ChartHas(svg, "3800 smaller ones (47."));
  CHECK(ChartHas(svg, "of the time) not drawn"));
  // Without times they are as they come.
  for (ChartPoint& point : chart.points)
    point.weight.reset();
  const std::string hollow = RenderRoofline(chart);
  CHECK(CircleCount(hollow, "<circle") == kRooflinePointsMax);
  CHECK(ChartHas(hollow, "3800 more not drawn"));
  // As many as there is room for are all drawn.
  chart.points.resize(kRooflinePointsMax);
  CHECK_FALSE(ChartHas(RenderRoofline(chart), "not drawn"));
}

TEST_CASE("many outliers of a box are as many circles as there are pixels") {
  ChartGroup group{"many", {}};
  for (int i = 0; i < 20'000; ++i)
    group.values.push_back(i < 16'000 ? 1.0 : 2.0 + i * 1e-3);
  ChartSheet sheet;
  sheet.charts.push_back({.title = "boxes", .body = BoxPlot{{group}}});
  const std::size_t circles = CircleCount(RenderSheet(sheet), "<circle");
  CHECK(circles > 10);
  CHECK(circles < 500);
}

TEST_CASE("a chart without anything is a chart") {
  CHECK(ChartHas(RenderRoofline({}), "</svg>"));
  RooflineChart wild{
      "wild", "", 1e-30, {{"tiny", 1e-300, true}}, {{"far", "", 1e200, 1e-200, 1.0}}};
  CHECK(ChartHas(RenderRoofline(wild), "</svg>"));
}

}  // namespace
}  // namespace jarvis::output
