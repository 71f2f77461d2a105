#include "output/chart_maps.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace jarvis::output {
namespace {

class HeatColours {
 public:
  HeatColours(const HeatMap& map, Limits data) : map_(map), limits_(data) {
    if (map.range) {
      limits_.low = std::min(limits_.low, map.range->low);
      limits_.high = std::max(limits_.high, map.range->high);
    }
    if (map.diverging) {
      const double far = std::max(std::abs(limits_.low), std::abs(limits_.high));
      limits_ = {-far, far};
    }
  }
  const Limits& limits() const { return limits_; }
  std::string At(double value) const {
    const double span = limits_.high - limits_.low;
    const double share = span > 0 ? (value - limits_.low) / span : 0.5;
    if (!map_.diverging) return SequentialColour(share);
    const double turned = map_.lower_is_better ? 1 - share : share;
    return DivergingColour(turned * 2 - 1);
  }

 private:
  const HeatMap& map_;
  Limits limits_;
};

// Enough decimals to tell cells apart whose colours differ.
int DecimalsFor(const Limits& limits) {
  const double span = limits.high - limits.low;
  if (!(span > 0)) return 2;
  return std::clamp(static_cast<int>(std::ceil(1.5 - std::log10(span))), 0, 4);
}

constexpr double kScaleRoom = 76;  // right of the map

void DrawScale(ChartFrame& frame, const HeatColours& colours, const PlotArea& plot,
               const std::string& unit) {
  constexpr int kSteps = 32;
  constexpr double kWidth = 14;
  const double left = plot.area.right + 18;
  const double height = plot.area.height() / kSteps;
  const Limits& limits = colours.limits();
  for (int i = 0; i < kSteps; ++i) {
    const double share = (i + 0.5) / kSteps;
    frame.svg().Rect({left, plot.area.bottom - (i + 1) * height}, kWidth, height + 0.4,
                     {.fill = colours.At(limits.low + share * (limits.high - limits.low))});
  }
  const Scale scale(limits, plot.area.bottom, plot.area.top);
  for (const Tick& tick : LinearTicks(limits, 6)) {
    frame.svg().Words({left + kWidth + 5, scale.At(tick.value) + kChartText * 0.35}, tick.text,
                      {.size = kChartText, .fill = frame.colours().ink});
  }
  frame.svg().Words({frame.area().right + kScaleRoom, plot.area.top - 6}, unit,
                    {.anchor = "end", .size = kChartText, .fill = frame.colours().ink});
}

// Spans nearer than half a pixel are one.
std::vector<Limits> Joined(const std::vector<Limits>& spans, const Scale& scale) {
  constexpr double kNear = 0.5;
  std::vector<Limits> pixels;
  for (const Limits& span : spans) {
    if (!std::isfinite(span.low) || !std::isfinite(span.high) || span.high < span.low) continue;
    pixels.push_back({scale.At(span.low), scale.At(span.high)});
  }
  std::sort(pixels.begin(), pixels.end(),
            [](const Limits& a, const Limits& b) { return a.low < b.low; });
  std::vector<Limits> joined;
  for (const Limits& span : pixels) {
    if (!joined.empty() && span.low <= joined.back().high + kNear) {
      joined.back().high = std::max(joined.back().high, span.high);
    } else {
      joined.push_back(span);
    }
  }
  return joined;
}

}  // namespace

ChartExtents ExtentsOf(const HeatMap& body) {
  ChartExtents extents;
  const std::size_t cells = body.columns.size() * body.rows.size();
  for (std::size_t i = 0; i < std::min(cells, body.values.size()); ++i) {
    if (body.values[i]) extents.colour.Hold(*body.values[i]);
  }
  return extents;
}

ChartExtents ExtentsOf(const TimelineStrip& body) {
  ChartExtents extents;
  for (const StripRow& row : body.rows) {
    for (const StripLane& lane : row.lanes) {
      for (const Limits& span : lane.spans) {
        extents.x.Hold(span.low);
        extents.x.Hold(span.high);
      }
    }
  }
  return extents;
}

void Draw(ChartFrame& frame, const Chart& chart, const HeatMap& body, const ChartLimits& limits) {
  const HeatColours colours(body, limits.colour);
  constexpr double kPlain = 1e6;
  const int decimals = body.diverging ? 1 : DecimalsFor(colours.limits());
  frame.KeepRight(kScaleRoom);
  const PlotArea plot = frame.Axes({.title = chart.x.title, .names = body.columns},
                                   {.title = chart.y.title, .names = body.rows});
  for (std::size_t row = 0; row < body.rows.size(); ++row) {
    for (std::size_t column = 0; column < body.columns.size(); ++column) {
      const std::size_t at = row * body.columns.size() + column;
      if (at >= body.values.size() || !body.values[at] || !std::isfinite(*body.values[at]))
        continue;
      const double value = *body.values[at];
      const std::string colour = colours.At(value);
      const double left = plot.area.left + plot.x_slot * static_cast<double>(column);
      const double top = plot.area.top + plot.y_slot * static_cast<double>(row);
      frame.svg().Rect({left + 0.5, top + 0.5}, plot.x_slot - 1, plot.y_slot - 1, {.fill = colour},
                       fmt::format("{}\n{}\n{} {}", body.rows[row], body.columns[column],
                                   ValueText(value), body.unit));
      const std::string text =
          std::abs(value) < kPlain ? fmt::format("{:.{}f}", value, decimals) : ValueText(value);
      for (const double size : {kChartText, kChartText - 2}) {
        if (WordsWidth(text, size) + 2 > plot.x_slot || plot.y_slot < size * 1.3) continue;
        frame.svg().Words({plot.X(column), plot.Y(row) + size * 0.35}, text,
                          {.anchor = "middle", .size = size, .fill = InkOn(colour)});
        break;
      }
    }
  }
  DrawScale(frame, colours, plot, body.unit);
}

void Draw(ChartFrame& frame, const Chart& chart, const TimelineStrip& body,
          const ChartLimits& limits) {
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < body.kinds.size(); ++i)
    legend.push_back({body.kinds[i], SeriesColour(i, body.kinds.size())});
  if (!legend.empty()) frame.Legend(legend);
  std::vector<std::string> names;
  for (const StripRow& row : body.rows)
    names.push_back(row.label);
  const PlotArea plot = frame.Axes({.title = chart.x.title, .limits = limits.x},
                                   {.title = chart.y.title, .names = names});
  for (std::size_t row = 0; row < body.rows.size(); ++row) {
    const StripRow& strip = body.rows[row];
    const double height =
        plot.y_slot * 0.84 / static_cast<double>(std::max<std::size_t>(strip.lanes.size(), 1));
    double top = plot.Y(row) - plot.y_slot * 0.42;
    for (const StripLane& lane : strip.lanes) {
      const std::string colour = SeriesColour(lane.kind, body.kinds.size());
      for (const Limits& span : Joined(lane.spans, plot.x)) {
        frame.svg().Rect({span.low, top}, std::max(span.high - span.low, 0.4), height * 0.92,
                         {.fill = colour});
      }
      top += height;
    }
  }
}

}  // namespace jarvis::output
