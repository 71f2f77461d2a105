// Drawings as SVG 1.1 text: shapes and words at positions, everything escaped, no scripts, no
// styles or fonts from elsewhere. The same calls give the same bytes. Lengths are user units
// (pixels at natural size), y grows downward.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "output/chart_theme.h"

namespace jarvis::output {

// Text for XML, between tags or in a quoted attribute. Invalid UTF-8 and characters that XML
// cannot hold become U+FFFD.
std::string XmlText(std::string_view text);

struct SvgStyle {
  std::string_view stroke = "none";
  double stroke_width = 1;
  std::string_view fill = "none";
  std::string_view dash = {};  // "4 3"; empty: a solid line
  double opacity = 1;
};

struct SvgWords {
  std::string_view anchor = "start";  // start, middle, end
  double size = 12;
  std::string_view fill = "#222222";
  bool bold = false;
  double turned = 0;  // degrees, clockwise, about the position
};

using SvgPoint = std::pair<double, double>;

class Svg {
 public:
  // `title` names the drawing for readers that do not see it. For ChartTheme::kPage the text is an
  // element to put into an HTML page, otherwise a document.
  Svg(double width, double height, std::string_view title, ChartTheme theme = ChartTheme::kLight);

  // `tooltip`, where one is given, is shown over the shape.
  void Line(SvgPoint from, SvgPoint to, const SvgStyle& style);
  void Polyline(std::span<const SvgPoint> points, const SvgStyle& style,
                std::string_view tooltip = {});
  void Rect(SvgPoint corner, double width, double height, const SvgStyle& style,
            std::string_view tooltip = {});
  void Circle(SvgPoint center, double radius, const SvgStyle& style, std::string_view tooltip = {});
  void Words(SvgPoint at, std::string_view words, const SvgWords& look = {});

  // The whole text.
  std::string Finish() const;

 private:
  void Close(std::string_view tag, std::string_view tooltip);
  void AppendStyle(const SvgStyle& style);

  std::string text_;
};

// A length as SVG text: at most two decimals, no exponent; 0 for what is no number.
std::string SvgNumber(double value);
// About how wide words of that size are, for keeping them apart.
double WordsWidth(std::string_view words, double size);

}  // namespace jarvis::output
