// The middle of some values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace jarvis {

// Of an even number the upper one of the two in the middle, so that it is one of the values.
// Linear. REQUIRES: there is a value.
template <typename T>
T UpperMedian(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The lower one. Linear. REQUIRES: there is a value.
template <typename T>
T LowerMedian(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Between both. Linear. REQUIRES: there is a value.
inline std::int64_t MedianOfTimes(std::vector<std::int64_t> values) {
  const std::int64_t lower = LowerMedian(values);
  return lower + (UpperMedian(std::move(values)) - lower) / 2;
}

}  // namespace jarvis
