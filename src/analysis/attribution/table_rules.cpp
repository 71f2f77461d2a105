#include "analysis/attribution/table_rules.h"

#include <algorithm>

namespace jarvis::analysis {

std::vector<std::size_t> StableDescending(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

}  // namespace jarvis::analysis
