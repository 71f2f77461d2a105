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
  explicit IdTable(std::vector<std::int64_t> ids) {
    if (ids.empty()) return;
    const auto [least, most] = std::ranges::minmax(ids);
    least_ = least;
    const std::uint64_t range = Distance(most);
    constexpr std::uint64_t kPerId = 8;  // and a place is an eighth of an id and what it is for
    if (range >= kPerId * ids.size()) {
      if (!std::ranges::is_sorted(ids)) std::ranges::sort(ids);
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      ids_ = std::move(ids);
      size_ = ids_.size();
      return;
    }
    // Nothing to sort: where an id lies is its order.
    places_.assign(static_cast<std::size_t>(range) + 1, kNoPlace);
    for (const std::int64_t id : ids)
      places_[Distance(id)] = 0;
    for (std::uint32_t& place : places_) {
      if (place != kNoPlace) place = static_cast<std::uint32_t>(size_++);
    }
  }

  std::size_t size() const { return size_; }
  std::size_t PlaceOf(std::int64_t id) const {
    if (size_ == 0 || id < least_) return kNone;
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
    return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(least_);
  }

  std::int64_t least_ = 0;
  std::size_t size_ = 0;
  std::vector<std::int64_t> ids_;      // of ids that lie apart
  std::vector<std::uint32_t> places_;  // by distance from the least; empty: they lie apart
};

}  // namespace jarvis::trace::xplane
