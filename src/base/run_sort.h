// A stable sort for data that is mostly in order already, as the events of a trace are: finds the
// ascending runs and merges neighbours, O(n log runs). Runs that follow each other in order once
// their neighbours are merged are one from then on: where a file has one step after the other, each
// in a few runs, what is left after the first rounds is one run, however many steps there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace jarvis {

template <typename T, typename Less>
void RunSort(std::vector<T>& values, Less less) {
  std::vector<std::size_t> starts;  // of each run, and the end
  for (std::size_t i = 0; i < values.size();) {
    starts.push_back(i);
    for (++i; i < values.size() && !less(values[i], values[i - 1]); ++i) {
    }
  }
  if (starts.size() < 2) return;
  if (starts.size() > values.size() / 8) {
    std::stable_sort(values.begin(), values.end(), less);
    return;
  }
  starts.push_back(values.size());
  std::vector<T> merged(values.size());
  while (starts.size() > 2) {
    std::vector<std::size_t> next;
    for (std::size_t r = 0; r + 1 < starts.size(); r += 2) {
      const auto at = [&](std::size_t i) {
        return values.begin() + static_cast<std::ptrdiff_t>(i);
      };
      const std::size_t middle = starts[r + 1];
      const std::size_t end = r + 2 < starts.size() ? starts[r + 2] : middle;
      std::merge(at(starts[r]), at(middle), at(middle), at(end),
                 merged.begin() + static_cast<std::ptrdiff_t>(starts[r]), less);
      next.push_back(starts[r]);
    }
    values.swap(merged);
    std::erase_if(next, [&](std::size_t start) {
      return start > 0 && !less(values[start], values[start - 1]);
    });
    next.push_back(values.size());
    starts = std::move(next);
  }
}

}  // namespace jarvis
