#include "output/chart_frame.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::output {
namespace {

constexpr double kEdge = 12;       // between a chart and what is beside it
constexpr double kAxisTitle = 12;  // size
constexpr double kLine = 1.35;     // line height
constexpr double kTickEvery = 34;  // pixels, at least, between ticks of the left axis
constexpr double kLetter = 0.6;    // of the size, see WordsWidth

std::size_t Fitting(double width, double size) {
  return static_cast<std::size_t>(std::max(4.0, width / (size * kLetter)));
}

// At most two lines; what is longer is shortened.
std::vector<std::string> Wrapped(std::string_view text, std::size_t characters) {
  const std::string line = OneLine(text);
  const std::string_view head = Utf8Characters(line, characters);
  if (head.size() == line.size()) return {line};
  const std::size_t space = head.rfind(' ');
  const std::size_t cut = space == std::string_view::npos || space == 0 ? head.size() : space;
  return {line.substr(0, cut), Shortened(Trim(std::string_view(line).substr(cut)), characters)};
}

std::vector<Tick> TicksBelow(const AxisPlan& axis, double width) {
  if (axis.logarithmic) return DecadeTicks(axis.limits);
  // As many as fit beside each other.
  for (std::size_t most = 12; most > 2; --most) {
    std::vector<Tick> ticks = LinearTicks(axis.limits, most);
    double widest = 0;
    for (const Tick& tick : ticks)
      widest = std::max(widest, WordsWidth(tick.text, kChartText));
    if (static_cast<double>(ticks.size()) * (widest + 14) <= width) return ticks;
  }
  return LinearTicks(axis.limits, 2);
}

}  // namespace

ChartFrame::ChartFrame(Svg& svg, ChartTheme theme, const ChartArea& area)
    : svg_(svg),
      colours_(ColoursOf(theme)),
      area_{area.left + kEdge, area.top + kEdge / 2, area.right - kEdge, area.bottom - kEdge / 2} {}

void ChartFrame::Lines(std::string_view text, double size, bool bold, std::string_view fill) {
  if (text.empty()) return;
  const double wider = bold ? 1.08 : 1;
  for (const std::string& line : Wrapped(text, Fitting(area_.width(), size * wider))) {
    area_.top += size * kLine;
    svg_.Words({area_.left, area_.top}, line, {.size = size, .fill = fill, .bold = bold});
  }
}

void ChartFrame::Heading(std::string_view title, std::string_view subtitle) {
  Lines(title, kChartTitle, true, colours_.ink);
  Lines(subtitle, kAxisTitle, false, colours_.faint);
  area_.top += kEdge;
}

void ChartFrame::Legend(std::span<const LegendEntry> entries) {
  constexpr std::size_t kLongest = 44;
  constexpr double kSign = 22;
  constexpr double kGap = 16;
  constexpr double kRow = kChartText * 1.6;
  constexpr double kShare = 0.24;  // of the height, at most
  const int rows = static_cast<int>(std::clamp(area_.height() * kShare / kRow, 1.0, 5.0));
  double x = area_.left;
  double y = area_.top + kChartText;
  int row = 1;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].label.empty()) continue;
    const std::string label =
        Shortened(entries[i].label, std::min(kLongest, Fitting(area_.width() - kSign, kChartText)));
    const double width = kSign + WordsWidth(label, kChartText);
    if (x > area_.left && x + width > area_.right) {
      if (++row > rows) {
        svg_.Words({area_.left, y + kChartText * 1.5},
                   fmt::format("and {} more", entries.size() - i),
                   {.size = kChartText, .fill = colours_.faint});
        y += kChartText * 1.5;
        break;
      }
      x = area_.left;
      y += kRow;
    }
    const SvgStyle style{.stroke = entries[i].colour, .stroke_width = 2};
    const double middle = y - kChartText * 0.35;
    if (entries[i].marker) {
      svg_.Line({x, middle}, {x + kSign - 6, middle}, style);
      DrawMarker(svg_, {x + (kSign - 6) / 2, middle}, *entries[i].marker, 3.5, style);
    } else {
      svg_.Rect({x, y - kChartText * 0.85}, 12, 11, {.fill = entries[i].colour});
    }
    svg_.Words({x + kSign - 2, y}, label, {.size = kChartText, .fill = colours_.ink});
    x += width + kGap;
  }
  area_.top = y + kEdge;
}

void ChartFrame::NoData() {
  svg_.Rect({area_.left, area_.top}, area_.width(), area_.height(),
            {.stroke = colours_.grid, .dash = "4 4"});
  svg_.Words({(area_.left + area_.right) / 2, (area_.top + area_.bottom) / 2}, "no data",
             {.anchor = "middle", .size = kChartTitle, .fill = colours_.faint});
}

PlotArea ChartFrame::Axes(const AxisPlan& x, const AxisPlan& y) {
  const bool x_names = !x.names.empty();
  const bool y_names = !y.names.empty();
  ChartArea plot = area_;
  plot.top += kChartText / 2;
  plot.right -= x_names ? 0 : 18;  // the last tick's text is centred below it
  const double title_left = y.title.empty() ? 0 : kAxisTitle * 1.7;
  const double title_below = x.title.empty() ? 0 : kAxisTitle * 1.7;

  std::vector<Tick> ticks;
  double left = 0;
  std::size_t characters = 0;
  if (y_names) {
    constexpr double kShare = 0.34;  // of the width, at most, for names
    characters = Fitting(plot.width() * kShare, kChartText);
    for (const std::string& name : y.names)
      left = std::max(left, WordsWidth(Shortened(name, characters), kChartText));
  } else {
    const double height = plot.height() - title_below - kChartText * 2;
    ticks =
        y.logarithmic
            ? DecadeTicks(y.limits)
            : LinearTicks(y.limits, static_cast<std::size_t>(std::max(2.0, height / kTickEvery)));
    for (const Tick& tick : ticks)
      left = std::max(left, WordsWidth(tick.text, kChartText));
  }
  plot.left += title_left + left + 8;

  NameLayout layout;
  layout.height = kChartText * 1.8;
  double x_slot = 0;
  if (x_names) {
    x_slot = plot.width() / static_cast<double>(x.names.size());
    constexpr double kShare = 0.3;  // of the height, at most, for names
    layout = LayOutNames(x.names, x_slot, kChartText,
                         {.left = plot.left - area_.left, .below = plot.height() * kShare});
  }
  plot.bottom = std::max(plot.bottom - layout.height - title_below, plot.top + 10);

  PlotArea out{plot, Scale(x.limits, plot.left, plot.right, x.logarithmic),
               Scale(y.limits, plot.bottom, plot.top, y.logarithmic), x_slot,
               y_names ? plot.height() / static_cast<double>(y.names.size()) : 0};
  if (x_names) {
    NamesBelow(out, x, layout);
  } else {
    ValuesBelow(out, x);
  }
  if (y_names) {
    NamesLeft(out, y, characters);
  } else {
    ValuesLeft(out, ticks);
  }
  svg_.Rect({plot.left, plot.top}, plot.width(), plot.height(), {.stroke = colours_.faint});
  svg_.Words({(plot.left + plot.right) / 2, area_.bottom - 4},
             Shortened(x.title, Fitting(plot.width(), kAxisTitle)),
             {.anchor = "middle", .size = kAxisTitle, .fill = colours_.ink});
  // Beside the plot, and beyond it where the plot is less high than the title is long.
  const std::string left_title = Shortened(y.title, Fitting(area_.height(), kAxisTitle));
  const double half = WordsWidth(left_title, kAxisTitle) / 2;
  const double middle =
      std::clamp((plot.top + plot.bottom) / 2, area_.top + std::min(half, area_.height() / 2),
                 area_.bottom - std::min(half, area_.height() / 2));
  svg_.Words({area_.left + kAxisTitle * 0.8, middle}, left_title,
             {.anchor = "middle", .size = kAxisTitle, .fill = colours_.ink, .turned = -90});
  return out;
}

void ChartFrame::NamesBelow(const PlotArea& plot, const AxisPlan& axis, const NameLayout& layout) {
  const double y = plot.area.bottom;
  for (std::size_t i = 0; i < axis.names.size(); i += layout.every) {
    const double x = plot.X(i);
    svg_.Line({x, y}, {x, y + 4}, {.stroke = colours_.faint});
    const std::string name = Shortened(axis.names[i], layout.longest);
    if (layout.turned == 0) {
      svg_.Words({x, y + kChartText * 1.5}, name,
                 {.anchor = "middle", .size = kChartText, .fill = colours_.ink});
    } else {
      svg_.Words(
          {x + 3, y + kChartText * 1.2}, name,
          {.anchor = "end", .size = kChartText, .fill = colours_.ink, .turned = layout.turned});
    }
  }
}

void ChartFrame::ValuesBelow(const PlotArea& plot, const AxisPlan& axis) {
  for (const Tick& tick : TicksBelow(axis, plot.area.width())) {
    const double x = plot.x.At(tick.value);
    svg_.Line({x, plot.area.top}, {x, plot.area.bottom}, {.stroke = colours_.grid});
    svg_.Words({x, plot.area.bottom + kChartText * 1.5}, tick.text,
               {.anchor = "middle", .size = kChartText, .fill = colours_.ink});
  }
}

void ChartFrame::NamesLeft(const PlotArea& plot, const AxisPlan& axis, std::size_t characters) {
  const double least = kChartText * 1.2;
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(least / plot.y_slot)));
  for (std::size_t i = 0; i < axis.names.size(); i += every) {
    svg_.Words({plot.area.left - 7, plot.Y(i) + kChartText * 0.35},
               Shortened(axis.names[i], characters),
               {.anchor = "end", .size = kChartText, .fill = colours_.ink});
  }
}

void ChartFrame::ValuesLeft(const PlotArea& plot, std::span<const Tick> ticks) {
  for (const Tick& tick : ticks) {
    const double y = plot.y.At(tick.value);
    svg_.Line({plot.area.left, y}, {plot.area.right, y}, {.stroke = colours_.grid});
    svg_.Words({plot.area.left - 7, y + kChartText * 0.35}, tick.text,
               {.anchor = "end", .size = kChartText, .fill = colours_.ink});
  }
}

void PlacedNames::Put(std::string_view name, SvgPoint point, double radius) {
  constexpr std::size_t kLongest = 28;
  const std::string text = Shortened(name, kLongest);
  const double width = WordsWidth(text, kChartText);
  const double gap = radius + 4;
  for (const double left :
       {point.first + gap, point.first - gap - width, point.first - width / 2}) {
    for (const double down : {4.0, -8.0, 16.0, -20.0, 28.0}) {
      const double baseline = point.second + down;
      const ChartArea place{left, baseline - kChartText, left + width, baseline + 2};
      if (!Free(place)) continue;
      taken_.push_back(place);
      frame_.svg().Words({left, baseline}, text,
                         {.size = kChartText, .fill = frame_.colours().ink});
      return;
    }
  }
}

bool PlacedNames::Free(const ChartArea& place) const {
  if (place.left < area_.left || place.right > area_.right || place.top < area_.top ||
      place.bottom > area_.bottom) {
    return false;
  }
  return std::none_of(taken_.begin(), taken_.end(), [&](const ChartArea& other) {
    return place.left < other.right && other.left < place.right && place.top < other.bottom &&
           other.top < place.bottom;
  });
}

void DrawMarker(Svg& svg, SvgPoint at, std::size_t marker, double radius, const SvgStyle& style,
                std::string_view tooltip) {
  constexpr std::size_t kShapes = 5;
  const auto [x, y] = at;
  SvgStyle filled = style;
  filled.dash = {};
  filled.fill = style.stroke;
  const double r = radius;
  switch (marker % kShapes) {
    case 0: svg.Circle(at, r, filled, tooltip); return;
    case 1: svg.Rect({x - r * 0.9, y - r * 0.9}, r * 1.8, r * 1.8, filled, tooltip); return;
    case 2: {
      const std::array<SvgPoint, 4> points = {
          {{x, y - r * 1.15}, {x + r, y + r * 0.8}, {x - r, y + r * 0.8}, {x, y - r * 1.15}}};
      svg.Polyline(points, filled, tooltip);
      return;
    }
    case 3: {
      const std::array<SvgPoint, 5> points = {{{x, y - r * 1.2},
                                               {x + r * 1.2, y},
                                               {x, y + r * 1.2},
                                               {x - r * 1.2, y},
                                               {x, y - r * 1.2}}};
      svg.Polyline(points, filled, tooltip);
      return;
    }
    default: {
      const std::array<SvgPoint, 4> points = {
          {{x, y + r * 1.15}, {x + r, y - r * 0.8}, {x - r, y - r * 0.8}, {x, y + r * 1.15}}};
      svg.Polyline(points, filled, tooltip);
    }
  }
}

}  // namespace jarvis::output
