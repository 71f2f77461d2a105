// Which place a number has in a list of distinct ones that was sorted: at once where they lie close
// together, as correlations do, else by halves.
//
// Threads: const after making.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace jarvis::trace::xplane {

class IdTable {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  IdTable() = default;
  // Any ids, in any order, as often as they come.
  explicit IdTable(std::vector<std::int64_t> ids) : ids_(std::move(ids)) {
    if (!std::ranges::is_sorted(ids_)) std::ranges::sort(ids_);
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    if (ids_.empty()) return;
    const std::uint64_t range = Distance(ids_.back());
    constexpr std::uint64_t kPerId = 8;  // and a place is an eighth of an id and what it is for
    if (range >= kPerId * ids_.size()) return;
    places_.assign(static_cast<std::size_t>(range) + 1, kNoPlace);
    for (std::size_t i = 0; i < ids_.size(); ++i)
      places_[Distance(ids_[i])] = static_cast<std::uint32_t>(i);
  }

  std::size_t size() const { return ids_.size(); }
  std::size_t PlaceOf(std::int64_t id) const {
    if (ids_.empty() || id < ids_.front()) return kNone;
    if (!places_.empty()) {
      const std::uint64_t at = Distance(id);
      return at < places_.size() && places_[at] != kNoPlace ? places_[at] : kNone;
    }
    const auto found = std::ranges::lower_bound(ids_, id);
    return found != ids_.end() && *found == id ? static_cast<std::size_t>(found - ids_.begin())
                                               : kNone;
  }
  bool Has(std::int64_t id) const { return PlaceOf(id) != kNone; }

 private:
  static constexpr std::uint32_t kNoPlace = 0xFFFFFFFFu;
  std::uint64_t Distance(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(ids_.front());
  }

  std::vector<std::int64_t> ids_;
  std::vector<std::uint32_t> places_;  // by distance from the least; empty: they lie apart
};

}  // namespace jarvis::trace::xplane
