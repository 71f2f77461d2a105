#include "output/chart_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "output/chart_stats.h"

namespace jarvis::output {
namespace {

constexpr std::array<std::string_view, 3> kDashes = {"", "7 3", "2 3"};

// Colours repeat no sooner than eight series; shapes and dashes change with them.
SvgStyle LineStyle(const std::string& colour, std::size_t index) {
  return {.stroke = colour, .stroke_width = 2, .dash = kDashes[index / 5 % kDashes.size()]};
}

void PutLegend(ChartFrame& frame, const std::vector<LegendEntry>& entries) {
  if (std::any_of(entries.begin(), entries.end(),
                  [](const LegendEntry& entry) { return !entry.label.empty(); })) {
    frame.Legend(entries);
  }
}

bool Drawable(const ScatterPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

std::vector<SvgPoint> PlacesOf(const ScatterSeries& series) {
  std::vector<SvgPoint> places;
  for (const ScatterPoint& point : series.points) {
    if (Drawable(point)) places.emplace_back(point.x, point.y);
  }
  return places;
}

void DrawFit(ChartFrame& frame, const PlotArea& plot, const ScatterSeries& series,
             const std::string& colour) {
  const std::vector<SvgPoint> places = PlacesOf(series);
  const auto fit = FitOf(places);
  if (!fit) return;
  const auto [low, high] = std::minmax_element(places.begin(), places.end());
  const auto at = [&](double x) {
    return SvgPoint{plot.x.At(x), plot.y.At(fit->offset + fit->slope * x)};
  };
  const std::array<SvgPoint, 2> line = {at(low->first), at(high->first)};
  frame.svg().Polyline(line, {.stroke = colour, .stroke_width = 2.5},
                       fmt::format("{}: {} {} {} * x, r² {}", series.label, ValueText(fit->offset),
                                   fit->slope < 0 ? "-" : "+", ValueText(std::abs(fit->slope)),
                                   ValueText(fit->r_squared)));
}

}  // namespace

ChartExtents ExtentsOf(const LineChart& body) {
  ChartExtents extents;
  for (const ChartSeries& series : body.series) {
    for (std::size_t i = 0; i < std::min(series.y.size(), body.x.size()); ++i) {
      if (series.y[i]) extents.y.Hold(*series.y[i]);
    }
  }
  return extents;
}

ChartExtents ExtentsOf(const ScatterPlot& body) {
  ChartExtents extents;
  for (const ScatterSeries& series : body.series) {
    for (const ScatterPoint& point : series.points) {
      if (!Drawable(point)) continue;
      extents.x.Hold(point.x);
      extents.y.Hold(point.y);
    }
  }
  return extents;
}

void Draw(ChartFrame& frame, const Chart& chart, const LineChart& body, const ChartLimits& limits) {
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < body.series.size(); ++i)
    legend.push_back({body.series[i].label, SeriesColour(i, body.series.size()), i});
  PutLegend(frame, legend);
  const PlotArea plot = frame.Axes({.title = chart.x.title, .names = body.x},
                                   {.title = chart.y.title, .limits = limits.y});
  for (std::size_t i = 0; i < body.series.size(); ++i) {
    const ChartSeries& series = body.series[i];
    const std::string colour = SeriesColour(i, body.series.size());
    const SvgStyle style = LineStyle(colour, i);
    std::vector<SvgPoint> run;
    const auto finish = [&] {
      if (run.size() > 1) frame.svg().Polyline(run, style);
      run.clear();
    };
    for (std::size_t x = 0; x < body.x.size(); ++x) {
      const bool there = x < series.y.size() && series.y[x] && std::isfinite(*series.y[x]);
      if (there) {
        run.emplace_back(plot.X(x), plot.y.At(*series.y[x]));
      } else {
        finish();
      }
    }
    finish();
    for (std::size_t x = 0; x < std::min(body.x.size(), series.y.size()); ++x) {
      if (!series.y[x] || !std::isfinite(*series.y[x])) continue;
      DrawMarker(frame.svg(), {plot.X(x), plot.y.At(*series.y[x])}, i, 4, style,
                 fmt::format("{}\n{}\n{}", series.label, body.x[x], ValueText(*series.y[x])));
    }
  }
}

namespace {

// Points for which the eye can follow each; more are dots.
constexpr std::size_t kFew = 200;
constexpr double kMarker = 4.5;

// What would lie on the same pixel is drawn once.
void DrawDots(ChartFrame& frame, const PlotArea& plot, const ScatterSeries& series,
              const std::string& colour) {
  std::set<std::pair<long, long>> drawn;
  std::vector<SvgPoint> dots;
  for (const auto& [x, y] : PlacesOf(series)) {
    const std::pair<long, long> pixel{std::lround(plot.x.At(x)), std::lround(plot.y.At(y))};
    if (drawn.insert(pixel).second) {
      dots.emplace_back(static_cast<double>(pixel.first), static_cast<double>(pixel.second));
    }
  }
  frame.svg().Dots(dots, kMarker, colour, 0.5);
}

void DrawMarkers(ChartFrame& frame, const PlotArea& plot, const ScatterSeries& series,
                 std::size_t index, const std::string& colour, PlacedNames* names) {
  for (const ScatterPoint& point : series.points) {
    if (!Drawable(point)) continue;
    const SvgPoint at{plot.x.At(point.x), plot.y.At(point.y)};
    DrawMarker(frame.svg(), at, index, kMarker, {.stroke = colour, .stroke_width = 1},
               fmt::format("{}{}{}, {}", point.label, point.label.empty() ? "" : "\n",
                           ValueText(point.x), ValueText(point.y)));
    names->Keep({at.first - kMarker, at.second - kMarker, at.first + kMarker, at.second + kMarker});
  }
}

void DrawJoined(ChartFrame& frame, const PlotArea& plot, const ScatterSeries& series,
                const std::string& colour, PlacedNames* names) {
  std::vector<SvgPoint> line;
  for (const auto& [x, y] : PlacesOf(series))
    line.emplace_back(plot.x.At(x), plot.y.At(y));
  frame.svg().Polyline(line, {.stroke = colour, .stroke_width = 1.5, .dash = "6 4"});
  // No name across it.
  constexpr double kStep = 8;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const auto [x, y] = line[i - 1];
    const double across = line[i].first - x;
    const double down = line[i].second - y;
    const double steps = std::ceil(std::hypot(across, down) / kStep);
    for (double step = 1; step < steps; ++step) {
      const double at_x = x + across * step / steps;
      const double at_y = y + down * step / steps;
      names->Keep({at_x - 1, at_y - 1, at_x + 1, at_y + 1});
    }
  }
}

}  // namespace

void Draw(ChartFrame& frame, const Chart& chart, const ScatterPlot& body,
          const ChartLimits& limits) {
  std::size_t points = 0;
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < body.series.size(); ++i) {
    legend.push_back({body.series[i].label, SeriesColour(i, body.series.size())});
    points += body.series[i].points.size();
  }
  const bool dots = points > kFew;
  for (std::size_t i = 0; i < body.series.size(); ++i) {
    if (body.series[i].marked) legend[i].marker = dots ? 0 : i;
  }
  PutLegend(frame, legend);
  const PlotArea plot = frame.Axes({.title = chart.x.title, .limits = limits.x},
                                   {.title = chart.y.title, .limits = limits.y});
  PlacedNames names(frame, plot.area);
  for (std::size_t i = 0; i < body.series.size(); ++i) {
    const ScatterSeries& series = body.series[i];
    const std::string colour = SeriesColour(i, body.series.size());
    if (series.joined) DrawJoined(frame, plot, series, colour, &names);
    if (!series.marked) continue;
    if (dots) {
      DrawDots(frame, plot, series, colour);
    } else {
      DrawMarkers(frame, plot, series, i, colour, &names);
    }
  }
  for (std::size_t i = 0; i < body.series.size(); ++i) {
    if (body.series[i].fit) {
      DrawFit(frame, plot, body.series[i], SeriesColour(i, body.series.size()));
    }
    for (const ScatterPoint& point : body.series[i].points) {
      if (!point.label.empty() && Drawable(point)) {
        names.Put(point.label, {plot.x.At(point.x), plot.y.At(point.y)}, kMarker);
      }
    }
  }
}

}  // namespace jarvis::output
