// Sets of time intervals [start, end): union, difference, total length.
//
// T is std::int64_t (nanoseconds, exact) or double (microseconds, where a reference's rounding must
// be reproduced). Touching intervals merge; empty ones add nothing to a length.
#pragma once

#include <algorithm>
#include <vector>

namespace jarvis {

template <typename T>
struct Interval {
  T start;
  T end;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorted, disjoint, not touching.
template <typename T>
using IntervalSet = std::vector<Interval<T>>;

template <typename T>
IntervalSet<T> Union(std::vector<Interval<T>> intervals) {
  const auto by_start = [](const Interval<T>& a, const Interval<T>& b) {
    return a.start < b.start;
  };
  if (!std::is_sorted(intervals.begin(), intervals.end(), by_start)) {
    std::sort(intervals.begin(), intervals.end(), by_start);
  }
  std::size_t last = 0;
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    if (intervals[i].start <= intervals[last].end) {
      intervals[last].end = std::max(intervals[last].end, intervals[i].end);
    } else {
      intervals[++last] = intervals[i];
    }
  }
  if (!intervals.empty()) intervals.resize(last + 1);
  return intervals;
}

template <typename T>
IntervalSet<T> Subtract(const IntervalSet<T>& from, const IntervalSet<T>& what) {
  IntervalSet<T> left;
  std::size_t first = 0;
  for (Interval<T> piece : from) {
    while (first < what.size() && what[first].end <= piece.start)
      ++first;
    for (std::size_t i = first; i < what.size() && what[i].start < piece.end; ++i) {
      if (what[i].start > piece.start) left.push_back({piece.start, what[i].start});
      piece.start = std::max(piece.start, what[i].end);
    }
    if (piece.start < piece.end) left.push_back(piece);
  }
  return left;
}

template <typename T>
T Length(const IntervalSet<T>& set) {
  T total = 0;
  for (const Interval<T>& piece : set)
    total += piece.end - piece.start;
  return total;
}

}  // namespace jarvis
