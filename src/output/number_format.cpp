#include "output/number_format.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/number_text.h"

namespace jarvis::output {

double Rounded(double value) {
  if (!std::isfinite(value)) return value;
  if (std::abs(value) >= 1e12) return value;
  const std::string text =
      std::abs(value) >= 1 ? fmt::format("{:.3f}", value) : fmt::format("{:.4g}", value);
  return std::strtod(text.c_str(), nullptr);
}

std::string CellText(const Cell& cell) {
  struct Visitor {
    std::string operator()(Absent) const { return "–"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const {
      const double rounded = Rounded(value);
      const double size = std::abs(rounded);
      // The shortest text of a number has an exponent outside of these.
      constexpr double kPlainMin = 1e-4;
      constexpr double kPlainMax = 1e16;
      const bool plain = size == 0 || (size >= kPlainMin && size < kPlainMax);
      constexpr int kDigits = 4;  // as Rounded has them
      return plain ? fmt::format("{}", rounded) : PlainDigits(rounded, kDigits);
    }
    std::string operator()(bool value) const { return value ? "yes" : "no"; }
    std::string operator()(const std::string& value) const { return value; }
  };
  return std::visit(Visitor{}, cell);
}

}  // namespace jarvis::output
