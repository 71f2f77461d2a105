#include "analysis/frames/repetition.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/median.h"

namespace jarvis::analysis {
namespace {

constexpr std::size_t kLeastBlocks = 3;
constexpr std::size_t kMostBlocks = 4096;
constexpr std::size_t kLeastItems = 12;  // of a sequence that can show anything
constexpr std::size_t kCandidates = 24;  // numbers of blocks that are looked at in full
constexpr double kLeastInTurn = 0.6;     // of the keys that occur that often
constexpr double kLeastAlike = 0.5;      // median likeness of neighbouring blocks
constexpr std::size_t kProof = 8;        // keys in turn
constexpr double kNearlyTheSame = 0.93;  // of two spreads

class RepetitionFinder {
 public:
  RepetitionFinder(std::span<const SequenceItem> items, std::int64_t end_ns)
      : items_(items), end_ns_(end_ns) {}

  std::optional<Repetition> Run() {
    if (items_.size() < kLeastItems || end_ns_ <= items_.front().at_ns) return std::nullopt;
    CollectPlaces();
    std::vector<Repetition> found;
    for (const std::size_t count : Candidates()) {
      if (auto one = Try(count)) found.push_back(std::move(*one));
    }
    const Repetition* best = nullptr;
    double most = 0;
    for (const Repetition& one : found)
      most = std::max(most, one.coverage);
    for (const Repetition& one : found) {
      if (one.coverage < kNearlyTheSame * most) continue;
      if (best == nullptr || one.starts.size() < best->starts.size()) best = &one;
    }
    if (best == nullptr) return std::nullopt;
    return *best;
  }

 private:
  void CollectPlaces() {
    std::unordered_map<std::uint64_t, std::size_t> known;
    key_of_.reserve(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto [found, added] = known.try_emplace(items_[i].key, places_.size());
      if (added) places_.emplace_back();
      places_[found->second].push_back(i);
      key_of_.push_back(found->second);
    }
    for (std::size_t k = 0; k < places_.size(); ++k)
      by_count_[places_[k].size()].push_back(k);
  }

  // Numbers of occurrences, those of which most items are.
  std::vector<std::size_t> Candidates() const {
    std::vector<std::pair<std::size_t, std::size_t>> weighed;  // items, count
    for (const auto& [count, keys] : by_count_) {
      if (count >= kLeastBlocks && count <= kMostBlocks)
        weighed.emplace_back(count * keys.size(), count);
    }
    std::sort(weighed.begin(), weighed.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    // Small numbers have few items, yet they are what is looked for: half of the places are theirs.
    std::vector<std::size_t> counts;
    for (std::size_t i = 0; i < weighed.size() && i < kCandidates / 2; ++i)
      counts.push_back(weighed[i].second);
    std::sort(weighed.begin(), weighed.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [items, count] : weighed) {
      if (counts.size() >= kCandidates) break;
      if (std::find(counts.begin(), counts.end(), count) == counts.end()) counts.push_back(count);
    }
    return counts;
  }

  std::optional<Repetition> Try(std::size_t count) const {
    const std::vector<std::size_t>& keys = by_count_.at(count);
    // Blocks begin with the key that comes first among those that take turns with most others;
    // which keys do is known once one is chosen, so a few that come early are tried.
    std::vector<std::size_t> early = keys;
    const auto first = [&](std::size_t k) { return places_[k].front(); };
    std::sort(early.begin(), early.end(),
              [&](std::size_t a, std::size_t b) { return first(a) < first(b); });
    constexpr std::size_t kTries = 8;
    std::optional<Repetition> best;
    std::size_t most = 0;
    for (std::size_t i = 0; i < early.size() && i < kTries; ++i) {
      const std::vector<std::size_t>& anchor = places_[early[i]];
      std::size_t in_turn = 0;
      for (const std::size_t k : keys)
        if (InTurn(anchor, places_[k])) ++in_turn;
      if (in_turn <= most) continue;
      most = in_turn;
      best = Repetition{anchor, 0, 0};
    }
    if (!best || static_cast<double>(most) < kLeastInTurn * static_cast<double>(keys.size()))
      return std::nullopt;
    Finish(&*best);
    // Many keys in turn prove it, however much else varies from block to block.
    if (most < kProof && !Alike(*best)) return std::nullopt;
    return best;
  }

  static bool InTurn(const std::vector<std::size_t>& anchor,
                     const std::vector<std::size_t>& other) {
    for (std::size_t i = 0; i < anchor.size(); ++i) {
      if (other[i] < anchor[i]) return false;
      if (i + 1 < anchor.size() && other[i] >= anchor[i + 1]) return false;
    }
    return true;
  }

  // The last block is taken to be as long as the others are in the middle, in items.
  void Finish(Repetition* one) const {
    std::vector<std::size_t> lengths;
    for (std::size_t i = 1; i < one->starts.size(); ++i)
      lengths.push_back(one->starts[i] - one->starts[i - 1]);
    one->end = std::min(items_.size(), one->starts.back() + UpperMedian(std::move(lengths)));
    const std::int64_t until = one->end < items_.size() ? items_[one->end].at_ns : end_ns_;
    const std::int64_t all = end_ns_ - items_.front().at_ns;
    one->coverage =
        static_cast<double>(until - items_[one->starts.front()].at_ns) / static_cast<double>(all);
  }

  // Of each block and the next: what they share of what they hold; the median of all.
  bool Alike(const Repetition& one) const {
    std::vector<double> shares;
    std::unordered_map<std::size_t, std::int64_t> before;
    for (std::size_t i = 0; i < one.starts.size(); ++i) {
      const std::size_t end = i + 1 < one.starts.size() ? one.starts[i + 1] : one.end;
      std::unordered_map<std::size_t, std::int64_t> now;
      for (std::size_t at = one.starts[i]; at < end; ++at)
        ++now[key_of_[at]];
      if (i > 0) shares.push_back(Likeness(before, now));
      before = std::move(now);
    }
    return UpperMedian(std::move(shares)) >= kLeastAlike;
  }

  static double Likeness(const std::unordered_map<std::size_t, std::int64_t>& a,
                         const std::unordered_map<std::size_t, std::int64_t>& b) {
    std::int64_t common = 0;
    std::int64_t all = 0;
    for (const auto& [key, count] : a) {
      const auto other = b.find(key);
      const std::int64_t there = other == b.end() ? 0 : other->second;
      common += std::min(count, there);
      all += std::max(count, there);
    }
    for (const auto& [key, count] : b)
      all += a.contains(key) ? 0 : count;
    return all == 0 ? 0 : static_cast<double>(common) / static_cast<double>(all);
  }

  std::span<const SequenceItem> items_;
  std::int64_t end_ns_;
  std::vector<std::vector<std::size_t>> places_;  // by key, ascending
  std::vector<std::size_t> key_of_;               // by item
  std::unordered_map<std::size_t, std::vector<std::size_t>> by_count_;
};

}  // namespace

std::optional<Repetition> FindRepetition(std::span<const SequenceItem> items, std::int64_t end_ns) {
  return RepetitionFinder(items, end_ns).Run();
}

}  // namespace jarvis::analysis
