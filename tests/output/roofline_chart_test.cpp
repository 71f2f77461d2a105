#include "output/roofline_chart.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <doctest/doctest.h>

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

TEST_CASE("a chart without anything is a chart") {
  CHECK(ChartHas(RenderRoofline({}), "</svg>"));
  RooflineChart wild{
      "wild", "", 1e-30, {{"tiny", 1e-300, true}}, {{"far", "", 1e200, 1e-200, 1.0}}};
  CHECK(ChartHas(RenderRoofline(wild), "</svg>"));
}

}  // namespace
}  // namespace jarvis::output
