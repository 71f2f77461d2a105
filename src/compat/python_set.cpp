#include "compat/python_set.h"

#include <cstddef>

namespace jarvis::compat {
namespace {

constexpr std::uint64_t kFree = ~std::uint64_t{0};
constexpr std::size_t kLinearProbes = 9;
constexpr unsigned kPerturbShift = 5;
constexpr std::size_t kLargeSet = 50000;

void Place(std::vector<std::uint64_t>* table, std::uint64_t value) {
  const std::size_t mask = table->size() - 1;
  std::uint64_t perturb = value;
  std::size_t at = value & mask;
  for (;;) {
    const std::size_t last = at + kLinearProbes <= mask ? at + kLinearProbes : at;
    for (std::size_t i = at; i <= last; ++i) {
      if ((*table)[i] != kFree) continue;
      (*table)[i] = value;
      return;
    }
    perturb >>= kPerturbShift;
    at = (at * 5 + 1 + perturb) & mask;
  }
}

}  // namespace

std::vector<std::uint64_t> InPythonSetOrder(const std::vector<std::uint64_t>& values) {
  std::vector<std::uint64_t> table(8, kFree);
  std::size_t used = 0;
  for (const std::uint64_t value : values) {
    Place(&table, value);
    ++used;
    if (used * 5 < (table.size() - 1) * 3) continue;
    const std::size_t least = used > kLargeSet ? used * 2 : used * 4;
    std::size_t size = 8;
    while (size <= least)
      size <<= 1;
    std::vector<std::uint64_t> larger(size, kFree);
    for (const std::uint64_t old : table) {
      if (old != kFree) Place(&larger, old);
    }
    table = std::move(larger);
  }
  std::vector<std::uint64_t> order;
  for (const std::uint64_t value : table) {
    if (value != kFree) order.push_back(value);
  }
  return order;
}

}  // namespace jarvis::compat
