#include "output/svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::output {

std::string XmlText(std::string_view text) {
  static constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  const std::string valid = ValidUtf8(text);
  std::string out;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const std::string_view three = std::string_view(valid).substr(i, 3);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
      out += kReplacement;
    } else if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
      out += kReplacement;
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string SvgNumber(double value) {
  constexpr double kLargest = 1e7;
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", std::clamp(value, -kLargest, kLargest));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

double WordsWidth(std::string_view words, double size) {
  constexpr double kCharacter = 0.6;  // of the size, on average, for sans-serif letters
  const auto characters = std::count_if(words.begin(), words.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  return static_cast<double>(characters) * size * kCharacter;
}

Svg::Svg(double width, double height, std::string_view title, ChartTheme theme) {
  const std::string w = SvgNumber(width);
  const std::string h = SvgNumber(height);
  const std::string name = XmlText(title);
  const bool page = theme == ChartTheme::kPage;
  // In a page a <title> would pop up over the whole picture.
  text_ = page ? "" : "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text_ += fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\" font-family=\"sans-serif\"",
      w, h);
  text_ += page ? fmt::format(" aria-label=\"{}\">\n", name)
                : fmt::format(">\n<title>{}</title>\n", name);
  text_ +=
      fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", w, h, ColoursOf(theme).paper);
}

void Svg::AppendStyle(const SvgStyle& style) {
  text_ += fmt::format(" fill=\"{}\"", XmlText(style.fill));
  if (style.stroke != "none") {
    text_ += fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", XmlText(style.stroke),
                         SvgNumber(style.stroke_width));
  }
  if (!style.dash.empty()) text_ += fmt::format(" stroke-dasharray=\"{}\"", XmlText(style.dash));
  if (style.opacity < 1) text_ += fmt::format(" opacity=\"{}\"", SvgNumber(style.opacity));
}

void Svg::Close(std::string_view tag, std::string_view tooltip) {
  if (tooltip.empty()) {
    text_ += "/>\n";
  } else {
    text_ += fmt::format("><title>{}</title></{}>\n", XmlText(tooltip), tag);
  }
}

void Svg::Line(SvgPoint from, SvgPoint to, const SvgStyle& style) {
  text_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", SvgNumber(from.first),
                       SvgNumber(from.second), SvgNumber(to.first), SvgNumber(to.second));
  AppendStyle(style);
  Close("line", {});
}

void Svg::Polyline(std::span<const SvgPoint> points, const SvgStyle& style,
                   std::string_view tooltip) {
  text_ += "<polyline points=\"";
  for (std::size_t i = 0; i < points.size(); ++i) {
    text_ += fmt::format("{}{},{}", i == 0 ? "" : " ", SvgNumber(points[i].first),
                         SvgNumber(points[i].second));
  }
  text_ += '"';
  AppendStyle(style);
  Close("polyline", tooltip);
}

void Svg::Rect(SvgPoint corner, double width, double height, const SvgStyle& style,
               std::string_view tooltip) {
  text_ +=
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", SvgNumber(corner.first),
                  SvgNumber(corner.second), SvgNumber(width), SvgNumber(height));
  AppendStyle(style);
  Close("rect", tooltip);
}

void Svg::Circle(SvgPoint center, double radius, const SvgStyle& style, std::string_view tooltip) {
  text_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", SvgNumber(center.first),
                       SvgNumber(center.second), SvgNumber(radius));
  AppendStyle(style);
  Close("circle", tooltip);
}

void Svg::Words(SvgPoint at, std::string_view words, const SvgWords& look) {
  text_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"", SvgNumber(at.first),
                       SvgNumber(at.second), SvgNumber(look.size), XmlText(look.fill));
  if (look.anchor != "start") text_ += fmt::format(" text-anchor=\"{}\"", XmlText(look.anchor));
  if (look.bold) text_ += " font-weight=\"bold\"";
  if (look.turned != 0) {
    text_ += fmt::format(" transform=\"rotate({} {} {})\"", SvgNumber(look.turned),
                         SvgNumber(at.first), SvgNumber(at.second));
  }
  text_ += fmt::format(">{}</text>\n", XmlText(words));
}

std::string Svg::Finish() const {
  return text_ + "</svg>\n";
}

}  // namespace jarvis::output
