#include "base/number_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace jarvis {

std::string ThreeDigits(double value) {
  constexpr int kDigits = 3;
  return PlainDigits(value, kDigits);
}

std::string PlainDigits(double value, int digits) {
  constexpr int kDecimalsMax = 12;  // below a millionth of a millionth nothing is measured
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  // The exponent of what is printed: 999.7 has three digits before the point, and prints as 1000.
  const auto exponent = [](double size) { return static_cast<int>(std::floor(std::log10(size))); };
  const double size = std::abs(value);
  int decimals = digits - 1 - exponent(size);
  if (decimals > 0) {
    const double rounded = std::round(size * std::pow(10, decimals)) / std::pow(10, decimals);
    decimals = digits - 1 - exponent(rounded > 0 ? rounded : size);
  }
  decimals = std::clamp(decimals, 0, kDecimalsMax);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string BytesText(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return ThreeDigits(bytes) + " " + kUnits[unit];
}

}  // namespace jarvis
