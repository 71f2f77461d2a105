// What repeats in a sequence: iterations, layers, batches, found without any mark by what occurs
// equally often and in turn.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace jarvis::analysis {

// `key`: what the item is; equal items have equal keys.
struct SequenceItem {
  std::uint64_t key;
  std::int64_t at_ns;
};

struct Repetition {
  std::vector<std::size_t> starts;  // indices of the items that begin a block, ascending
  std::size_t end = 0;              // one past the last block's last item, as far as it can be told
  double coverage = 0;              // share of the sequence's time that the blocks span
};

// The most spread repetition of at least three blocks: keys that occur n times, each once in every
// block, in the same order; of numbers of nearly the same spread the smallest. Blocks need not be
// equal in length or in what else they hold, but must be alike. The sequence is by time, `end_ns`
// where it ends. Absent: none. O(n log n).
std::optional<Repetition> FindRepetition(std::span<const SequenceItem> items, std::int64_t end_ns);

}  // namespace jarvis::analysis
