// One number of an analysis.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "table/table.h"

namespace jarvis::findings {

// Numbers are kept with full precision; texts round.
struct Fact {
  std::string key;        // "time_ms", "tflops_achieved", "transpose_percent"
  Cell value;             // Absent: not known
  std::string_view unit;  // "ms", "%", "TB/s", "TFLOPS/s", "GB", "x", "us", "" (counts, texts)
};

// Low, middle and high estimate.
struct Range {
  double low = 0;
  double mid = 0;
  double high = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// So far apart that only the upper end says something.
inline bool IsWide(const Range& range) {
  constexpr double kWide = 10;  // high over low
  return range.high > kWide * range.low;
}

// Of the first fact of that key; absent: there is none, or it is no such number.
inline std::optional<double> NumberOf(std::span<const Fact> facts, std::string_view key) {
  const auto fact = std::ranges::find(facts, key, &Fact::key);
  if (fact == facts.end()) return std::nullopt;
  const auto* const value = std::get_if<double>(&fact->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

inline Fact NumberFact(std::string key, double value, std::string_view unit = {}) {
  return {std::move(key), value, unit};
}

}  // namespace jarvis::findings
