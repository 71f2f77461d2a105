// Sets of time intervals [start, end): union, difference, intersection, total length.
//
// T is std::int64_t (nanoseconds, exact) or double (microseconds, where a reference's rounding must
// be reproduced). Touching intervals merge; empty ones add nothing to a length.
#pragma once

#include <algorithm>
#include <iterator>
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

// Adds one to a list that Union is asked about: what begins in the last one, as what is nested
// does, or where it ends, takes no room of its own.
template <typename T>
void AddInterval(Interval<T> one, std::vector<Interval<T>>* list) {
  if (!list->empty() && list->back().start <= one.start && one.start <= list->back().end) {
    list->back().end = std::max(list->back().end, one.end);
  } else {
    list->push_back(one);
  }
}

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

// Into `left`, whose room is used again. What of `what` lies before the first piece is passed over
// at once, so that a small set may be held against a large one.
template <typename T>
void SubtractInto(const IntervalSet<T>& from, const IntervalSet<T>& what, IntervalSet<T>* left) {
  left->clear();
  if (from.empty()) return;
  const auto ends_before = [](const Interval<T>& one, T at) { return one.end <= at; };
  auto first = std::lower_bound(what.begin(), what.end(), from.front().start, ends_before);
  for (Interval<T> piece : from) {
    while (first != what.end() && first->end <= piece.start)
      ++first;
    for (auto i = first; i != what.end() && i->start < piece.end; ++i) {
      if (i->start > piece.start) left->push_back({piece.start, i->start});
      piece.start = std::max(piece.start, i->end);
    }
    if (piece.start < piece.end) left->push_back(piece);
  }
}
template <typename T>
IntervalSet<T> Subtract(const IntervalSet<T>& from, const IntervalSet<T>& what) {
  IntervalSet<T> left;
  SubtractInto(from, what, &left);
  return left;
}

// What both have.
template <typename T>
IntervalSet<T> Intersect(const IntervalSet<T>& a, const IntervalSet<T>& b) {
  return Subtract(a, Subtract(a, b));
}

template <typename T>
bool Contains(const IntervalSet<T>& set, T at) {
  const auto after = std::partition_point(set.begin(), set.end(),
                                          [&](const Interval<T>& one) { return one.start <= at; });
  return after != set.begin() && at < std::prev(after)->end;
}

template <typename T>
T Length(const IntervalSet<T>& set) {
  T total = 0;
  for (const Interval<T>& piece : set)
    total += piece.end - piece.start;
  return total;
}

}  // namespace jarvis
