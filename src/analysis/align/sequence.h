// Two lists of names aligned: which entries are the same, which are in one list only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/job.h"
#include "base/string_pool.h"

namespace jarvis::analysis {

inline constexpr std::uint32_t kUnpaired = 0xFFFFFFFFu;

// Places in the two lists; one of them may be kUnpaired.
struct AlignStep {
  std::uint32_t a;
  std::uint32_t b;
  bool matched() const { return a != kUnpaired && b != kUnpaired; }
  friend bool operator==(const AlignStep&, const AlignStep&) = default;
};
using Alignment = std::vector<AlignStep>;

struct AlignLimits {
  // Pairs of entries that the exact alignment looks at; longer lists are aligned by looking ahead.
  std::uint64_t cells_max = std::uint64_t{1} << 26;
  // Of telling equal names apart: pairs of distinct subtrees, times the entries.
  std::uint64_t score_steps_max = 400'000'000;
};

// The alignment with the fewest entries left over or replaced: an entry costs 1 to delete, to
// insert and to replace; a replaced one is left over on both sides. Found from the end, where a
// deletion comes before an insertion. `approximate` is set if the lists were too long for that.
Alignment AlignNames(std::span<const StringId> a, std::span<const StringId> b,
                     const AlignLimits& limits, const Job& job, bool* approximate);

// What lies below an entry: for each of four levels the sorted names there.
inline constexpr int kSignatureLevels = 4;
using Signature = std::vector<std::vector<StringId>>;
// Of an entry of the first (0) or second (1) list.
using SignatureOf = std::function<Signature(int side, std::uint32_t place)>;

// Entries of one name, of which there are several, are paired anew by what lies below them: the
// best score first (levels that are equal, then names in common at the first that is not), pairs
// that were matched before, then by place. Nothing changes if the new pairs are among the old ones.
// Else the steps of those names follow the others: pairs by place, then what is left over.
void PairByWhatLiesBelow(std::span<const StringId> a, std::span<const StringId> b,
                         const SignatureOf& signature, const AlignLimits& limits,
                         Alignment* alignment, bool* approximate);

}  // namespace jarvis::analysis
