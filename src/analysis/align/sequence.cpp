#include "analysis/align/sequence.h"

#include <algorithm>
#include <map>
#include <set>

namespace jarvis::analysis {
namespace {

using Names = std::span<const StringId>;

// One bit a cell: does the best way to (i, j) delete a[i-1]?
class EditTable {
 public:
  EditTable(Names a, Names b, const Job& job) : columns_(b.size()) {
    bits_.assign((a.size() * b.size() + 63) / 64, 0);
    std::vector<std::uint32_t> above(b.size() + 1);
    std::vector<std::uint32_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
      above[j] = static_cast<std::uint32_t>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
      if (job.stopped()) return;
      row[0] = static_cast<std::uint32_t>(i);
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::uint32_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
        row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
        if (row[j] == above[j] + 1) Set(i - 1, j - 1);
      }
      std::swap(row, above);
    }
  }
  bool Deletes(std::size_t i, std::size_t j) const {
    const std::size_t bit = i * columns_ + j;
    return (bits_[bit / 64] >> (bit % 64) & 1) != 0;
  }

 private:
  void Set(std::size_t i, std::size_t j) {
    const std::size_t bit = i * columns_ + j;
    bits_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  std::size_t columns_;
  std::vector<std::uint64_t> bits_;
};

AlignStep StepOf(std::size_t i, std::size_t j) {
  return {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)};
}
AlignStep Deletion(std::size_t i) {
  return {static_cast<std::uint32_t>(i), kUnpaired};
}
AlignStep Insertion(std::size_t j) {
  return {kUnpaired, static_cast<std::uint32_t>(j)};
}

// For lists too long to compare every pair: forward, to the nearest equal names ahead.
Alignment LookAhead(Names a, Names b, const Job& job) {
  constexpr std::size_t kAhead = 32;
  Alignment out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size() && !job.stopped()) {
    std::size_t skip_a = 0;
    std::size_t skip_b = 0;
    bool found = false;
    for (std::size_t far = 0; far < 2 * kAhead && !found; ++far) {
      for (std::size_t x = 0; x <= far && !found; ++x) {
        if (i + x >= a.size() || j + far - x >= b.size()) continue;
        if (a[i + x] != b[j + far - x]) continue;
        found = true;
        skip_a = x;
        skip_b = far - x;
      }
    }
    if (!found) skip_a = skip_b = 1;
    for (std::size_t x = 0; x < skip_a; ++x)
      out.push_back(Deletion(i++));
    for (std::size_t x = 0; x < skip_b; ++x)
      out.push_back(Insertion(j++));
    if (found) out.push_back(StepOf(i++, j++));
  }
  while (i < a.size())
    out.push_back(Deletion(i++));
  while (j < b.size())
    out.push_back(Insertion(j++));
  return out;
}

using Places = std::vector<std::uint32_t>;

// The entries of one name on one side, in classes of equal signature.
struct Side {
  Places places;
  std::vector<std::uint32_t> class_of;  // by entry of `places`
  std::vector<Places> members;          // by class: entries of `places`, ascending
  std::vector<Signature> signatures;    // by class
};

Side MakeSide(int side, Places places, const SignatureOf& signature) {
  Side out;
  out.places = std::move(places);
  std::map<Signature, std::uint32_t> classes;
  for (std::uint32_t i = 0; i < out.places.size(); ++i) {
    const auto [found, added] = classes.try_emplace(signature(side, out.places[i]),
                                                    static_cast<std::uint32_t>(out.members.size()));
    if (added) {
      out.members.emplace_back();
      out.signatures.push_back(found->first);
    }
    out.class_of.push_back(found->second);
    out.members[found->second].push_back(i);
  }
  return out;
}

using Score = std::pair<int, std::size_t>;  // levels that are equal, names in common at the next

Score ScoreOf(const Signature& a, const Signature& b) {
  int level = 0;
  while (level < kSignatureLevels &&
         a[static_cast<std::size_t>(level)] == b[static_cast<std::size_t>(level)])
    ++level;
  if (level == kSignatureLevels) return {level, 0};
  const auto& left = a[static_cast<std::size_t>(level)];
  const auto& right = b[static_cast<std::size_t>(level)];
  std::vector<StringId> common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                        std::back_inserter(common));
  return {level, common.size()};
}

// Pairs of one name, the best first; `old`: what was matched before, by place.
std::vector<AlignStep> BestPairs(const Side& a, const Side& b, const Alignment& old) {
  std::map<Score, std::map<std::uint32_t, Places>, std::greater<>> levels;  // class of a -> of b
  for (std::uint32_t x = 0; x < a.members.size(); ++x) {
    for (std::uint32_t y = 0; y < b.members.size(); ++y) {
      levels[ScoreOf(a.signatures[x], b.signatures[y])][x].push_back(y);
    }
  }
  std::vector<char> used_a(a.places.size(), 0);
  std::vector<char> used_b(b.places.size(), 0);
  std::vector<std::size_t> first_free(b.members.size(), 0);  // by class of b
  std::vector<AlignStep> out;
  std::size_t left = std::min(a.places.size(), b.places.size());
  const auto pair = [&](std::uint32_t i, std::uint32_t j) {
    used_a[i] = used_b[j] = 1;
    out.push_back({a.places[i], b.places[j]});
    --left;
  };
  const auto entry = [](const Places& places, std::uint32_t place) {
    const auto found = std::lower_bound(places.begin(), places.end(), place);
    return static_cast<std::uint32_t>(found - places.begin());
  };
  for (const auto& [score, classes] : levels) {
    if (left == 0) break;
    for (const AlignStep& step : old) {
      const std::uint32_t i = entry(a.places, step.a);
      const std::uint32_t j = entry(b.places, step.b);
      const auto partners = classes.find(a.class_of[i]);
      if (used_a[i] != 0 || used_b[j] != 0 || partners == classes.end()) continue;
      if (std::binary_search(partners->second.begin(), partners->second.end(), b.class_of[j])) {
        pair(i, j);
      }
    }
    Places candidates;
    for (const auto& [x, partners] : classes)
      candidates.insert(candidates.end(), a.members[x].begin(), a.members[x].end());
    std::sort(candidates.begin(), candidates.end());
    for (const std::uint32_t i : candidates) {
      if (used_a[i] != 0 || left == 0) continue;
      std::uint32_t best = kUnpaired;
      for (const std::uint32_t y : classes.at(a.class_of[i])) {
        std::size_t& at = first_free[y];
        while (at < b.members[y].size() && used_b[b.members[y][at]] != 0)
          ++at;
        if (at < b.members[y].size()) best = std::min(best, b.members[y][at]);
      }
      if (best != kUnpaired) pair(i, best);
    }
  }
  return out;
}

bool ByPlace(const AlignStep& x, const AlignStep& y) {
  return x.a != y.a ? x.a < y.a : x.b < y.b;
}

}  // namespace

Alignment AlignNames(Names a, Names b, const AlignLimits& limits, const Job& job,
                     bool* approximate) {
  // The end that both have in common is what the way back from the end finds first.
  std::size_t n = a.size();
  std::size_t m = b.size();
  Alignment back;
  while (n > 0 && m > 0 && a[n - 1] == b[m - 1])
    back.push_back(StepOf(--n, --m));
  if (n > 0 && m > limits.cells_max / n) {
    *approximate = true;
    Alignment out = LookAhead(a.first(n), b.first(m), job);
    out.insert(out.end(), back.rbegin(), back.rend());
    return out;
  }
  const EditTable table(a.first(n), b.first(m), job);
  while (n > 0 || m > 0) {
    if (n > 0 && m > 0 && a[n - 1] == b[m - 1]) {
      --n;
      --m;
      back.push_back(StepOf(n, m));
    } else if (n > 0 && (m == 0 || table.Deletes(n - 1, m - 1))) {
      back.push_back(Deletion(--n));
    } else {
      back.push_back(Insertion(--m));
    }
  }
  std::reverse(back.begin(), back.end());
  return back;
}

void PairByWhatLiesBelow(Names a, Names b, const SignatureOf& signature, const AlignLimits& limits,
                         Alignment* alignment, bool* approximate) {
  std::map<StringId, std::pair<Places, Places>> places;
  for (const AlignStep& step : *alignment) {
    if (step.matched()) places[a[step.a]];
  }
  const auto collect = [&](Names names, Places std::pair<Places, Places>::*which) {
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      const auto found = places.find(names[i]);
      if (found != places.end()) (found->second.*which).push_back(i);
    }
  };
  collect(a, &std::pair<Places, Places>::first);
  collect(b, &std::pair<Places, Places>::second);
  std::erase_if(places, [](const auto& entry) {
    return entry.second.first.size() < 2 && entry.second.second.size() < 2;
  });
  if (places.empty()) return;
  std::map<StringId, Alignment> old;
  for (const AlignStep& step : *alignment) {
    if (step.matched() && places.count(a[step.a]) != 0) old[a[step.a]].push_back(step);
  }
  std::vector<AlignStep> pairs;
  for (auto entry = places.begin(); entry != places.end();) {
    const Side side_a = MakeSide(0, entry->second.first, signature);
    const Side side_b = MakeSide(1, entry->second.second, signature);
    const std::uint64_t steps = std::uint64_t{side_a.members.size()} * side_b.members.size() *
                                (side_a.places.size() + side_b.places.size());
    if (steps > limits.score_steps_max) {
      *approximate = true;
      entry = places.erase(entry);
      continue;
    }
    std::vector<AlignStep>& before = old[entry->first];
    std::sort(before.begin(), before.end(), &ByPlace);
    const std::vector<AlignStep> best = BestPairs(side_a, side_b, before);
    pairs.insert(pairs.end(), best.begin(), best.end());
    ++entry;
  }
  std::sort(pairs.begin(), pairs.end(), &ByPlace);
  const bool changed = std::any_of(pairs.begin(), pairs.end(), [&](const AlignStep& pair) {
    const auto found = old.find(a[pair.a]);
    return !std::binary_search(found->second.begin(), found->second.end(), pair, &ByPlace);
  });
  if (!changed) return;
  Alignment out;
  for (const AlignStep& step : *alignment) {
    if (places.count(step.a != kUnpaired ? a[step.a] : b[step.b]) == 0) out.push_back(step);
  }
  std::set<std::uint32_t> paired_a, paired_b;
  for (const AlignStep& pair : pairs) {
    paired_a.insert(pair.a);
    paired_b.insert(pair.b);
  }
  out.insert(out.end(), pairs.begin(), pairs.end());
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    if (places.count(a[i]) != 0 && paired_a.count(i) == 0) out.push_back(Deletion(i));
  }
  for (std::uint32_t j = 0; j < b.size(); ++j) {
    if (places.count(b[j]) != 0 && paired_b.count(j) == 0) out.push_back(Insertion(j));
  }
  *alignment = std::move(out);
}

}  // namespace jarvis::analysis
