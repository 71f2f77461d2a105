#include "output/chart_theme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

namespace jarvis::output {
namespace {

// Tol's "vibrant" palette and one more: apart for all kinds of colour vision, readable on white
// and on dark paper.
constexpr std::array<std::string_view, 8> kSeries = {"#0077bb", "#ee7733", "#009988", "#cc3311",
                                                     "#33a6d4", "#ee3377", "#8a7a2f", "#8a8a8a"};

struct Rgb {
  double red, green, blue;
};

Rgb RgbOf(std::string_view colour) {
  const auto value =
      static_cast<std::uint32_t>(std::strtoul(std::string(colour.substr(1)).c_str(), nullptr, 16));
  return {static_cast<double>(value >> 16 & 255), static_cast<double>(value >> 8 & 255),
          static_cast<double>(value & 255)};
}

// Along colours at equal distances.
template <std::size_t kCount>
std::string Between(const std::array<std::string_view, kCount>& stops, double share) {
  if (!std::isfinite(share)) share = 0;
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(kCount - 1);
  const auto first = std::min(static_cast<std::size_t>(at), kCount - 2);
  const double part = at - static_cast<double>(first);
  const Rgb a = RgbOf(stops[first]);
  const Rgb b = RgbOf(stops[first + 1]);
  const auto mix = [part](double from, double to) {
    return static_cast<int>(std::lround(from + (to - from) * part));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(a.red, b.red), mix(a.green, b.green),
                     mix(a.blue, b.blue));
}

}  // namespace

const ChartColours& ColoursOf(ChartTheme theme) {
  static constexpr ChartColours kLight{"#ffffff", "#222222", "#6a6a6a", "#e4e4e4"};
  static constexpr ChartColours kDark{"#16191d", "#e6e6e6", "#a0a6ad", "#343a41"};
  static constexpr ChartColours kPage{"var(--paper)", "var(--ink)", "var(--faint)", "var(--grid)"};
  switch (theme) {
    case ChartTheme::kLight: return kLight;
    case ChartTheme::kDark: return kDark;
    case ChartTheme::kPage: break;
  }
  return kPage;
}

std::string SeriesColour(std::size_t index, std::size_t count) {
  if (count <= kSeries.size()) return std::string(kSeries[index % kSeries.size()]);
  // Viridis without its ends, which would be lost on dark and on white paper.
  static constexpr std::array<std::string_view, 6> kViridis = {"#443983", "#31688e", "#21918c",
                                                               "#35b779", "#90d743", "#d0c81f"};
  return Between(kViridis, static_cast<double>(index) / static_cast<double>(count - 1));
}

std::string SequentialColour(double share) {
  static constexpr std::array<std::string_view, 4> kBlues = {"#eef5fb", "#a6cbe3", "#4a90c2",
                                                             "#0b3f75"};
  return Between(kBlues, share);
}

std::string DivergingColour(double share) {
  static constexpr std::array<std::string_view, 3> kStops = {kWorseColour, "#f4f1e8",
                                                             kBetterColour};
  return Between(kStops, (share + 1) / 2);
}

std::string_view InkOn(std::string_view colour) {
  const Rgb rgb = RgbOf(colour);
  const double light = 0.299 * rgb.red + 0.587 * rgb.green + 0.114 * rgb.blue;
  constexpr double kMiddle = 140;
  return light > kMiddle ? "#1a1a1a" : "#ffffff";
}

}  // namespace jarvis::output
