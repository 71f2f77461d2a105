#include "output/chart_axis.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "output/svg.h"

namespace jarvis::output {
namespace {

constexpr double kLargestTick = 1e15;  // beyond, axes are of no use and steps would lose digits

std::size_t Characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// 1, 2 or 5 times a power of ten, not below `least`.
double NiceStep(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= least * (1 - 1e-9)) return times * power;
  }
  return 10 * power;
}

std::string TickText(double value, double step, double largest) {
  constexpr double kPlain = 1e6;
  if (largest >= kPlain || step < 1e-5) return fmt::format("{:.6g}", value);
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

void Extent::Hold(double value) {
  if (!std::isfinite(value)) return;
  value = std::clamp(value, -kLargestTick, kLargestTick);
  if (!limits_) limits_ = Limits{value, value};
  limits_ = Limits{std::min(limits_->low, value), std::max(limits_->high, value)};
}

void Extent::Hold(const std::optional<Limits>& limits) {
  if (!limits) return;
  Hold(limits->low);
  Hold(limits->high);
}

std::vector<Tick> LinearTicks(const Limits& limits, std::size_t most) {
  const double span = limits.high - limits.low;
  if (!(span > 0)) return {{limits.low, ValueText(limits.low)}};
  most = std::max<std::size_t>(most, 2);
  double step = NiceStep(span / static_cast<double>(most));
  const auto count = [&] {
    return std::floor(limits.high / step + 1e-9) - std::ceil(limits.low / step - 1e-9) + 1;
  };
  while (count() > static_cast<double>(most))
    step = NiceStep(step * 1.5);
  const double largest = std::max(std::abs(limits.low), std::abs(limits.high));
  std::vector<Tick> ticks;
  const double first = std::ceil(limits.low / step - 1e-9);
  for (double i = 0; i < count(); ++i) {
    const double value = (first + i) * step;
    const double exact = std::abs(value) < step * 1e-6 ? 0 : value;
    ticks.push_back({exact, TickText(exact, step, largest)});
  }
  return ticks;
}

std::vector<Tick> DecadeTicks(const Limits& limits) {
  constexpr int kPlain = 5;
  std::vector<Tick> ticks;
  const auto first = static_cast<int>(std::ceil(std::log10(limits.low) - 1e-9));
  const auto last = static_cast<int>(std::floor(std::log10(limits.high) + 1e-9));
  for (int decade = first; decade <= last; ++decade) {
    const double value = std::pow(10.0, decade);
    if (decade > kPlain || decade < -4) {
      ticks.push_back({value, fmt::format("1e{}", decade)});
    } else {
      ticks.push_back({value, fmt::format("{:.{}f}", value, std::max(0, -decade))});
    }
  }
  return ticks;
}

Limits WithRoom(const Limits& limits, bool from_zero) {
  constexpr double kRoom = 0.05;
  double low = limits.low;
  double high = limits.high;
  if (from_zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  if (high - low <= std::max(std::abs(low), std::abs(high)) * 1e-12) {
    const double half = high == 0 ? 1 : std::abs(high) * 0.1;
    low -= from_zero && low == 0 ? 0 : half;
    high += half;
  }
  const double room = (high - low) * kRoom;
  return {from_zero && low == 0 ? 0 : low - room, from_zero && high == 0 ? 0 : high + room};
}

Limits WholeDecades(const Limits& limits) {
  constexpr double kRoom = 0.15;
  constexpr double kMost = 12;  // more is a mistake in the data and would be unreadable
  constexpr double kSmallest = 1e-15;
  double low = std::floor(std::log10(std::max(limits.low, kSmallest)) - kRoom);
  const double high = std::ceil(std::log10(std::max(limits.high, kSmallest)) + kRoom);
  low = std::max(low, high - kMost);
  return {std::pow(10.0, low), std::pow(10.0, high)};
}

Scale::Scale(const Limits& limits, double from, double to, bool logarithmic)
    : limits_(limits), from_(from), to_(to), logarithmic_(logarithmic) {}

double Scale::Position(double value) const {
  return logarithmic_ ? std::log10(value) : value;
}

double Scale::At(double value) const {
  const double low = Position(limits_.low);
  const double span = Position(limits_.high) - low;
  const double share = span > 0 ? (Position(value) - low) / span : 0.5;
  return from_ + std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * (to_ - from_);
}

NameLayout LayOutNames(std::span<const std::string> names, double slot, double size,
                       const NameRoom& room) {
  constexpr double kLongest = 30;
  constexpr double kShortest = 8;
  constexpr double kTurn = 38;
  constexpr double kSine = 0.616;
  constexpr double kCosine = 0.788;
  const double letter = WordsWidth("x", size);
  const double margin = size * 1.6;
  NameLayout layout;
  const auto widest_of = [&] {
    double widest = 0;
    for (const std::string& name : names)
      widest = std::max(widest, WordsWidth(Shortened(name, layout.longest), size));
    return widest;
  };
  layout.longest = static_cast<std::size_t>(kLongest);
  layout.height = margin;
  double widest = widest_of();
  const double gap = size * 0.8;
  if (widest + gap <= slot) return layout;
  double needed = widest + gap;
  if (widest >= 6 * size) {  // short ones are level, and only every so many of them
    const double left = (room.left + slot / 2) / kCosine / letter;
    const double below = (room.below - margin) / kSine / letter;
    layout.longest =
        static_cast<std::size_t>(std::clamp(std::min(left, below), kShortest, kLongest));
    widest = widest_of();
    layout.turned = -kTurn;
    layout.height = widest * kSine + margin;
    needed = size * 1.5 / kSine;  // the distance that turned lines need along the axis
  }
  layout.every = static_cast<std::size_t>(std::max(1.0, std::ceil(needed / std::max(slot, 0.01))));
  return layout;
}

std::string Shortened(std::string_view text, std::size_t characters) {
  const std::string line = OneLine(text);
  const std::size_t all = Characters(line);
  if (all <= characters || characters < 3) return line;
  const std::size_t head = characters / 2;
  const std::size_t tail = characters - head - 1;
  const std::string_view before = Utf8Characters(line, all - tail);
  return std::string(Utf8Characters(line, head)) + "…" + line.substr(before.size());
}

std::string ValueText(double value) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  if (size >= 1e7 || (size > 0 && size < 1e-3)) return fmt::format("{:.3g}", value);
  const int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

}  // namespace jarvis::output
